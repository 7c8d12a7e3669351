// The whole net: the exact algebra changes rounding only, gradients agree with differences, and
// what a sample gets does not depend on its company.
#include "nn/net.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/nn/compare_runs.h"
#include "tests/nn/scores.h"
#include "tests/support.h"

namespace renar::net_test {
namespace {

using test::check_with_differences;
using test::compare_with_plain_form;
using test::every_probe;
using test::kAnyGraph;
using test::kNoEdges;
using test::largest_magnitude;
using test::random_batch;
using test::Run;
using test::small_batch;
using test::small_net;
using test::small_options;

/// An LSTM and dropout.
NetOptions with_memory(const std::string& kind, int hidden = 8) {
  NetOptions options = small_options(kind, hidden);
  options.lstm = true;
  options.dropout = 0.3;
  return options;
}

TEST_CASE("net: the exact algebra changes rounding only") {
  for (const std::string algo : {"dfs", "bfs"}) {
    CAPTURE(algo);
    for (const int nodes : {1, 2, 3, 5, 16}) {
      CAPTURE(nodes);
      for (const int samples : {1, 7}) {
        compare_with_plain_form(small_batch(algo, nodes, samples), small_options());
      }
    }
    compare_with_plain_form(small_batch(algo, 3, 3, kNoEdges), small_options());
    for (const char* kind : {"deepsets", "triplet_gpgn_mask", "gat", "gatv2", "memnet_masked"}) {
      NetOptions options = small_options(kind, 16);
      options.processor.heads = 4;
      compare_with_plain_form(small_batch(algo, 5, 3), options);
    }
    compare_with_plain_form(small_batch(algo, 5, 3), with_memory("triplet_gmpnn"));
  }
  for (const int nodes : {1, 2, 3, 5}) {
    CAPTURE(nodes);
    const Batch batch = random_batch(every_probe(), nodes, {4, 1, 3});
    for (const char* kind : {"triplet_gmpnn", "pgn_mask"}) {
      compare_with_plain_form(batch, small_options(kind));
    }
  }
}

TEST_CASE("net: a trajectory of one frame has an output loss and no hint losses") {
  const Batch batch = small_batch("bfs", 4, 3, kNoEdges);
  REQUIRE(batch.frames == 1);
  const Net net = small_net("bfs");
  const Run result = test::run(net, batch);
  for (std::size_t p = 0; p < net.spec().size(); ++p) {
    CHECK((result.losses[p] > 0) == (net.spec()[p].stage == Stage::kOutput));
  }
}

/// -log softmax(logits)[target]
double cross_entropy_of(const Real* logits, std::int64_t count, Real target) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(double{logits[i]});
  return std::log(sum) - double{logits[static_cast<std::int64_t>(target)]};
}

TEST_CASE("net: pointer losses are those of the predictions, each valid one counted once") {
  for (const std::string algo : {"dfs", "bfs"}) {
    const Batch batch = small_batch(algo, 5, 7, {0.0, 0.2, 0.9});
    const Net net = small_net(algo);
    const Run result = test::run(net, batch);
    for (std::size_t p = 0; p < net.spec().size(); ++p) {
      const Probe& probe = net.spec()[p];
      if (probe.type != Type::kPointer) continue;
      double sum = 0, valid = 0;
      for (std::int64_t b = 0; b < batch.size; ++b) {
        const bool hint = probe.stage == Stage::kHint;
        const std::int64_t steps = hint ? batch.lengths[static_cast<std::size_t>(b)] - 1 : 1;
        for (std::int64_t t = 0; t < steps; ++t) {
          const Real* truth = batch.at(p, hint ? t + 1 : 0, b);
          const Real* logits = result.trained.at(batch, p, t, b);
          for (int i = 0; i < 5; ++i, ++valid) sum += cross_entropy_of(logits + i * 5, 5, truth[i]);
        }
      }
      CHECK(result.losses[p] == doctest::Approx(sum / valid).epsilon(test::kRounding));
    }
  }
}

TEST_CASE("net: gradients agree with central differences" * doctest::skip(test::kFloatBuild)) {
  struct Case {
    const char* algo;
    const char* kind;
    int passes;
  };
  for (const Case& c : {Case{"bfs", "triplet_gmpnn", 1},
                        {"bfs", "triplet_gpgn_mask", 1},
                        {"bfs", "gat", 1},
                        {"bfs", "gatv2_full", 2},
                        {"bfs", "memnet_masked", 1},
                        {"dfs", "triplet_gmpnn", 2}}) {
    NetOptions options = small_options(c.kind, 4);
    options.processor.heads = 2;
    options.message_passing_steps = c.passes;
    check_with_differences(small_batch(c.algo, 3, 2), options);
  }
}

TEST_CASE("net: gradients through dropout and an LSTM" * doctest::skip(test::kFloatBuild)) {
  NetOptions options = with_memory("triplet_gmpnn", 4);
  const Batch batch = small_batch("dfs", 3, 2);
  check_with_differences(batch, options);
  options.message_passing_steps = 2;
  check_with_differences(small_batch("bfs", 4, 3, {0.0, 0.2, 0.9}), options);
  options.lstm = false;
  check_with_differences(batch, options);
  options.dropout = 0;
  options.lstm = true;
  check_with_differences(batch, options);
}

TEST_CASE("net: gradients of every type of probe" * doctest::skip(test::kFloatBuild)) {
  for (const char* kind : {"triplet_gmpnn", "pgn_mask"}) {
    check_with_differences(random_batch(every_probe(), 3, {3, 4}), small_options(kind, 4));
  }
  // A permutation that is fed back; no algorithm has one.
  static const Spec spec = {{"x", Stage::kInput, Location::kNode, Type::kScalar},
                            {"p", Stage::kHint, Location::kNode, Type::kPermutationPointer},
                            {"y", Stage::kOutput, Location::kNode, Type::kScalar}};
  check_with_differences(random_batch(spec, 3, {3, 4}), small_options("triplet_gmpnn", 4));
}

TEST_CASE("net: every type of probe has a loss, and finite ones without edges and frames") {
  for (const int nodes : {1, 2, 6}) {
    for (const std::vector<int>& lengths : {std::vector<int>{1, 1, 1}, {5, 2, 1, 3}}) {
      const Batch batch = random_batch(every_probe(), nodes, lengths);
      const Net net("x", every_probe(), small_options());
      const Run result = test::run(net, batch);
      for (std::size_t p = 0; p < net.spec().size(); ++p) {
        CAPTURE(net.spec()[p].name);
        CHECK(std::isfinite(result.losses[p]));
        CHECK(result.losses[p] >= 0);
        const bool choice = choices(net.spec()[p], nodes) > 1;
        const bool compared = net.spec()[p].stage == Stage::kOutput ||
                              (net.spec()[p].stage == Stage::kHint && batch.frames > 1);
        if (nodes == 6 && compared && choice) CHECK(result.losses[p] > 0);
      }
      for (const Real g : result.grads) CHECK(std::isfinite(g));
      const double score = test::batch_score(batch, result.evaluated);
      CHECK(std::isfinite(score));
    }
  }
}

TEST_CASE("net: noise on permutations in training alone, another in every update") {
  const Batch batch = random_batch(every_probe(), 5, {4, 2, 3, 1, 2});
  const Net net("x", every_probe(), small_options());
  const std::size_t order = every_probe().index_of("order");
  const auto train = [&](const NoiseKey& key, int threads) {
    ShardRunner runner(threads);
    Predictions predictions{.hints = Predictions::Hints::kLogits, .values = {}};
    predictions.prepare(batch);
    std::vector<Real> grads;
    runner.gradients(net, batch, grads, key, &predictions);
    return predictions.values;
  };
  const auto first = train({.update = 1}, 1), second = train({.update = 2}, 1);
  CHECK(train({.update = 1}, 3) == first);
  for (std::size_t p = 0; p < net.spec().size(); ++p) {
    CHECK((first[p] == second[p]) == (p != order));
  }
  // Without noise training predicts as evaluation does.
  const std::vector<Real> none(5 * 5 * 5);
  const Run run = test::run(net, batch);
  CHECK(train({.fixed = none.data()}, 1) == run.evaluated.values);
  CHECK(run.trained.values[order] != run.evaluated.values[order]);
}

void check_company(const Batch& batch, const NetOptions& options = small_options()) {
  const Net net("x", *batch.spec, options);
  const Run together = test::run(net, batch);
  for (std::int64_t b = 0; b < batch.size; ++b) {
    const Batch one = test::sample_of(batch, b);
    const Run alone = test::run(net, one);
    for (std::size_t p = 0; p < net.spec().size(); ++p) {
      const bool hint = net.spec()[p].stage == Stage::kHint;
      if (net.spec()[p].stage == Stage::kInput) continue;
      for (std::int64_t t = 0; t < (hint ? steps_of(batch.frames) : 1); ++t) {
        const auto row = [&](const Predictions& of, const Batch& in, std::int64_t sample) {
          const Real* logits = of.at(in, p, t, sample);
          return std::vector<Real>(logits, logits + logits_per_sample(in, p));
        };
        const bool ended = hint && t >= steps_of(one.frames);  // zeros after a sample's end
        const std::vector<Real> zeros(static_cast<std::size_t>(logits_per_sample(batch, p)));
        test::check_same("evaluation", row(together.evaluated, batch, b),
                         ended ? zeros : row(alone.evaluated, one, 0));
        // The noise of a permutation belongs to the place in the batch.
        if (net.spec()[p].type == Type::kPermutationPointer) continue;
        test::check_same("training", row(together.trained, batch, b),
                         ended ? zeros : row(alone.trained, one, 0));
      }
    }
  }
}

TEST_CASE("net: predictions do not depend on the company a sample is in") {
  for (const std::string algo : {"dfs", "bfs"}) {
    for (const int nodes : {3, 16}) check_company(small_batch(algo, nodes, 7, {0.0, 0.2, 0.9}));
  }
  for (const int nodes : {3, 7}) check_company(random_batch(every_probe(), nodes, {4, 2, 3, 1, 2}));
  NetOptions lstm = small_options();
  lstm.lstm = true;
  check_company(small_batch("dfs", 4, 7, {0.0, 0.2, 0.9}), lstm);
}

TEST_CASE("net: hints that nobody asks for change nothing where they are not predicted") {
  const Batch batch = random_batch(every_probe(), 4, {5, 1, 3, 4});
  for (const HintMode mode : {HintMode::kEncodedDecoded, HintMode::kDecodedOnly}) {
    NetOptions options = small_options();
    options.hints = mode;
    const Net net("every", every_probe(), options);
    ShardRunner runner(1);
    Predictions with{.hints = Predictions::Hints::kLogits, .values = {}}, without;
    runner.predict(net, batch, with);
    runner.predict(net, batch, without);
    for (std::size_t p = 0; p < net.spec().size(); ++p) {
      if (net.spec()[p].stage != Stage::kOutput) continue;
      const std::vector<Real>& logits = with.values[p];
      CHECK(largest_magnitude(logits.data(), static_cast<std::int64_t>(logits.size())) > 0);
      CHECK(without.values[p] == logits);
    }
  }
}

TEST_CASE("net: hard feedback changes what later steps read, in evaluation alone if asked for") {
  const Batch batch = small_batch("dfs", 4, 2);
  const auto run_with = [&](Repred mode) {
    NetOptions options = small_options();
    options.hint_repred = mode;
    return test::run(small_net("dfs", options), batch);
  };
  const Run soft = run_with(Repred::kSoft), hard = run_with(Repred::kHard);
  const Run on_eval = run_with(Repred::kHardOnEval);
  CHECK(on_eval.trained.values == soft.trained.values);
  CHECK(on_eval.evaluated.values == hard.evaluated.values);
  CHECK(hard.trained.values != soft.trained.values);
  CHECK(hard.evaluated.values == hard.trained.values);
  CHECK(soft.evaluated.values == soft.trained.values);
}

TEST_CASE("net: every kind of processor runs forward and backward") {
  const Batch batch = small_batch("dfs", 4, 2);
  const auto check = [&](const NetOptions& options) {
    CAPTURE(options.processor.kind);
    const Net net = small_net("dfs", options);
    const Run result = test::run(net, batch);
    CHECK(total(result.losses) > 0);
    CHECK(std::isfinite(total(result.losses)));
    for (const auto& [name, param] : net.parameters().entries()) {
      CAPTURE(name);
      const Real* grads = result.grads.data() + param.offset;
      CHECK(std::isfinite(std::accumulate(grads, grads + param.shape.size(), Real{0})));
      if (!reads_hints(options.hints)) continue;  // the graph's one number is a hint
      // A bias before a softmax over nodes and those that follow it move all logits alike.
      if (name.ends_with("/w")) CHECK(largest_magnitude(grads, param.shape.size()) > 0);
    }
  };
  for (const std::string& kind : processor_kinds()) {
    check(small_options(kind));
    NetOptions options = with_memory(kind);
    options.message_passing_steps = 2;
    options.teacher_forcing = 0.5;
    options.processor.heads = 2;
    for (const HintMode mode :
         {HintMode::kEncodedDecoded, HintMode::kDecodedOnly, HintMode::kNone}) {
      options.hints = mode;
      check(options);
    }
  }
}

}  // namespace
}  // namespace renar::net_test
