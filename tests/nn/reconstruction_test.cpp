// ReNAR and M-ReNAR as whole nets: gradients, the exact algebra, what masking changes and what not.
#include "nn/reconstruction.h"

#include <doctest/doctest.h>

#include "algos/pipeline.h"
#include "core/check.h"
#include "tests/nn/compare_runs.h"

namespace renar::reconstruction_test {
namespace {

using test::every_probe;
using test::random_batch;
using test::Run;
using test::small_batch;

constexpr Masking kBoth[] = {Masking::kPaper, Masking::kAuthors};

NetOptions options_of(Method method, double ratio = 0, Masking masking = Masking::kPaper,
                      const std::string& kind = "triplet_gmpnn", int hidden = 8) {
  NetOptions options = test::small_options(kind, hidden);
  options.reconstruction = {
      .method = method, .weight = 0.5, .masks = {.masking = masking, .ratio = ratio}};
  return options;
}

TEST_CASE("reconstruction: gradients agree with central differences" *
          doctest::skip(test::kFloatBuild)) {
  for (const char* kind : {"triplet_gmpnn", "pgn_mask", "gat"}) {
    for (const double ratio : {0.0, 0.4}) {
      for (const Masking masking : kBoth) {
        CAPTURE(ratio);
        NetOptions options = options_of(Method::kRenar, ratio, masking, kind, 4);
        options.message_passing_steps = ratio > 0 ? 1 : 2;
        test::check_with_differences(small_batch("bfs", 3, 2), options);
      }
    }
  }
  test::check_with_differences(small_batch("dfs", 3, 2), options_of(Method::kRenarLinear));
}

TEST_CASE("reconstruction: gradients of every type of probe" * doctest::skip(test::kFloatBuild)) {
  const Batch batch = random_batch(every_probe(), 3, {3, 4});
  NetOptions options = options_of(Method::kRenar, 0, Masking::kPaper, "triplet_gmpnn", 4);
  test::check_with_differences(batch, options);
  options.teacher_forcing = 0.5;
  test::check_with_differences(batch, options);
  options.reconstruction.masks = {.masking = Masking::kAuthors, .ratio = 0.5};
  test::check_with_differences(batch, options);
  options.reconstruction.method = Method::kRenarLinear;
  test::check_with_differences(batch, options);
}

TEST_CASE("reconstruction: the exact algebra changes rounding only") {
  // The GNN's edges are S V, those behind the gate are not.
  for (const char* kind : {"triplet_gmpnn", "triplet_pgn_mask", "mpnn", "gatv2"}) {
    for (const double ratio : {0.0, 0.3}) {
      for (const Masking masking : kBoth) {
        const NetOptions options = options_of(Method::kRenar, ratio, masking, kind);
        // The many steps of dfs make more of a float's rounding than the comparison allows.
        const char* algo = test::kFloatBuild ? "bfs" : "dfs";
        test::compare_with_plain_form(small_batch(algo, 5, 3), options);
      }
    }
  }
  const Batch batch = random_batch(every_probe(), 3, {4, 1, 3});
  test::compare_with_plain_form(batch, options_of(Method::kRenar, 0.5));
  test::compare_with_plain_form(batch, options_of(Method::kRenarLinear));
}

TEST_CASE("reconstruction: the same bits on any number of threads") {
  const Batch batch = small_batch("dfs", 6, 20);
  REQUIRE(batch.shards.size() > 2);
  for (const Masking masking : kBoth) {
    const Net net = test::small_net("dfs", options_of(Method::kRenar, 0.3, masking));
    const Run one = test::run(net, batch, 1), two = test::run(net, batch, 2);
    CHECK(one.losses == two.losses);
    CHECK(one.grads == two.grads);
    CHECK(one.trained.values == two.trained.values);
  }
}

TEST_CASE("reconstruction: where nothing can be hidden the state is read once and not recovered") {
  // All of its hints are of edges, but pred_h, which becomes an input.
  const Algorithm& algorithm = find_algorithm("optimal_bst");
  const Spec spec = spec_after(Pipeline{}, algorithm);
  TraceBatch traces = make_dataset(algorithm, 4, 3, 1, algorithm.training);
  apply_but_positions(Pipeline{}, algorithm, traces);
  Batch batch;
  fill_batch(spec, traces, batch);
  const auto masked = [&](double ratio) {
    return test::run(Net("optimal_bst", spec, options_of(Method::kRenar, ratio)), batch);
  };
  NetOptions silent = options_of(Method::kRenar);
  silent.reconstruction.weight = 0;
  const Run renar = test::run(Net("optimal_bst", spec, silent), batch);
  for (const double ratio : {0.1, 0.5}) {
    const Run run = masked(ratio);
    CHECK(run.losses.reconstruction == 0);
    CHECK(run.losses == renar.losses);
    CHECK(run.grads == renar.grads);
  }
}

TEST_CASE("reconstruction: nothing is hidden in evaluation, and hides anew in every update") {
  const Batch batch = small_batch("dfs", 5, 4);
  for (const Masking masking : kBoth) {
    const Net plain = test::small_net("dfs", options_of(Method::kRenar));
    const Net masked = test::small_net("dfs", options_of(Method::kRenar, 0.5, masking));
    const Run want = test::run(plain, batch), got = test::run(masked, batch);
    CHECK(got.evaluated.values == want.evaluated.values);
    CHECK(got.trained.values != want.trained.values);
    ShardRunner runner(1);
    std::vector<Real> first, again, later;
    runner.gradients(masked, batch, first, {.update = 3});
    runner.gradients(masked, batch, again, {.update = 3});
    runner.gradients(masked, batch, later, {.update = 4});
    CHECK(first == again);
    CHECK(first != later);
  }
}

TEST_CASE("reconstruction: ReNAR-linear predicts as the baseline does and adds a loss") {
  const Batch batch = small_batch("dfs", 5, 4);
  const Run base = test::run(test::small_net("dfs", options_of(Method::kBaseline)), batch);
  const Run linear = test::run(test::small_net("dfs", options_of(Method::kRenarLinear)), batch);
  CHECK(base.losses.reconstruction == 0);
  CHECK(linear.losses.reconstruction > 0);
  CHECK(linear.losses.probes == base.losses.probes);
  CHECK(linear.trained.values == base.trained.values);
  CHECK(linear.grads != base.grads);
}

TEST_CASE("reconstruction: lambda weighs L_rec alone") {
  const Batch batch = small_batch("bfs", 5, 4);
  NetOptions options = options_of(Method::kRenar, 0.5);
  const auto loss_with = [&](double weight) {
    options.reconstruction.weight = weight;
    return test::run(test::small_net("bfs", options), batch).losses;
  };
  const Losses one = loss_with(1), tenth = loss_with(0.1), none = loss_with(0);
  CHECK(one.probes == none.probes);
  CHECK(none.reconstruction == 0);
  CHECK(tenth.reconstruction == doctest::Approx(one.reconstruction / 10).epsilon(1e-5));
}

TEST_CASE(
    "reconstruction: every kind of processor, method and masking runs; tiny ones are finite") {
  for (const std::string& kind : processor_kinds()) {
    for (const int nodes : {1, 2, 4}) {
      const Batch batch = random_batch(every_probe(), nodes, {1, 3, 2});
      for (const Method method : {Method::kRenar, Method::kRenarLinear}) {
        for (const Masking masking : kBoth) {
          CAPTURE(kind);
          const double ratio = method == Method::kRenar ? 0.3 : 0;
          const Run run =
              test::run(Net("x", every_probe(), options_of(method, ratio, masking, kind)), batch);
          CHECK(std::isfinite(total(run.losses)));
          for (const Real g : run.grads) CHECK(std::isfinite(g));
        }
      }
    }
  }
}

TEST_CASE("reconstruction: what is not read cannot be recovered") {
  for (const HintMode mode : {HintMode::kDecodedOnly, HintMode::kNone}) {
    NetOptions options = options_of(Method::kRenar);
    options.hints = mode;
    CHECK_THROWS_AS(test::small_net("dfs", options), Error);
  }
}

}  // namespace
}  // namespace renar::reconstruction_test
