// Evaluation: every sample once and in order, whatever the size of its batches; exact match and
// hints along time by hand.
#include "trainer/evaluate.h"

#include <doctest/doctest.h>

#include "tests/nn/scores.h"
#include "tests/nn/small.h"

namespace renar::evaluate_test {
namespace {

TEST_CASE("evaluate: every sample counts once, in batches of any size") {
  for (const char* algo : {"bfs", "dfs"}) {
    const Algorithm& algorithm = find_algorithm(algo);
    const TraceBatch traces = make_dataset(algorithm, 5, 7, 3, {.p = test::kAnyGraph});
    const Net net = test::small_net(algo);
    ShardRunner runner(1);
    const Batch whole = batch_of_range(net.spec(), traces, 0, 7);
    Predictions predictions;
    runner.predict(net, whole, predictions);
    const double want = test::batch_score(whole, predictions);
    REQUIRE(want > 0);
    REQUIRE(want < 1);
    for (const int batch_size : {1, 3, 7, 100}) {
      const EvaluationSet set(net.spec(), traces, batch_size);
      CHECK(set.nodes() == 5);
      const Evaluation found = set.score(net, runner);
      CHECK(found.score == want);
      CHECK(found.samples == 7);
      CHECK(found.nodes == 5);
      REQUIRE(found.outputs.size() == 1);
      CHECK(found.outputs[0].name == "pi");
      CHECK(found.outputs[0].score == want);
      TrivialCounts counts;
      count_trivial(whole, net.spec().index_of("pi"), counts);
      CHECK(found.trivial == trivial_score(net.spec()[net.spec().index_of("pi")], counts));
      CHECK(found.trivial > 0);
      CHECK(found.trivial == found.outputs[0].trivial);
      CHECK(set.score(net, runner).score == want);  // nothing is left over
    }
  }
}

/// Two samples over two nodes, of three and of two frames.
struct TwoSamples {
  TwoSamples() {
    batch.spec = &spec;
    batch.size = batch.nodes = 2;
    batch.frames = 3;
    batch.lengths = {3, 2};
    batch.values = {{0, 0, 0, 0, /**/ 1, 0, 0, 1, /**/ 1, 1, 0, 0},  // h: frames, samples, nodes
                    {9, 9, 9, 9, /**/ 1, 2, 0, 0, /**/ 0, 0, 0, 0},  // d
                    {1, 1, 0, 1},                                    // y
                    {1, 0, -1, 0}};                                  // z
    batch.cut();
    predictions.hints = Predictions::Hints::kLogits;
    predictions.values = {
        // h: 1 0 | 0 1, then 1 0 of the first sample; the second has ended and would be right
        {0, 1, 1, 0, 1, 0, 0, 1, /**/ 0, 1, 1, 0, 1, 0, 1, 0},
        {1, 0, 0, 2, /**/ 1, 1, 0, 0},
        {0, 1, 0, 1, 1, 0, 1, 0},  // y: 1 1 | 0 0
        {1, 1, 5, -1}};            // z: 1 1 | masked 0
  }
  Evaluation result(Predictions::Hints hints) const {
    ScoreSums sums(spec, hints);
    sums.add(batch, predictions);
    return sums.result();
  }

  const Spec spec = {{"h", Stage::kHint, Location::kNode, Type::kPointer},
                     {"d", Stage::kHint, Location::kNode, Type::kScalar},
                     {"y", Stage::kOutput, Location::kNode, Type::kPointer},
                     {"z", Stage::kOutput, Location::kNode, Type::kMask}};
  Batch batch;
  Predictions predictions;
};

TEST_CASE("evaluate: exact match by hand") {
  const Evaluation found = TwoSamples().result(Predictions::Hints::kNone);
  REQUIRE(found.outputs.size() == 2);
  CHECK(found.outputs[0].score == 0.75);
  CHECK(found.outputs[0].exact == 0.5);                       // the first sample
  CHECK(found.outputs[1].score == doctest::Approx(2.0 / 3));  // precision 1/2, recall 1
  CHECK(found.outputs[1].exact == 0.5);                       // the second sample
  CHECK(found.exact == 0);                                    // so none has both
  CHECK(found.score == doctest::Approx((0.75 + 2.0 / 3) / 2));
  CHECK(found.hints.empty());
  CHECK(found.running.empty());

  TwoSamples mended;
  mended.predictions.values[3][1] = -1;
  CHECK(mended.result(Predictions::Hints::kNone).exact == 0.5);
}

TEST_CASE("evaluate: hints along time by hand, over the samples that still run") {
  const Evaluation found = TwoSamples().result(Predictions::Hints::kLogits);
  CHECK(found.running == std::vector<int>{2, 1});
  REQUIRE(found.hints.size() == 2);
  const HintScore &h = found.hints[0], &d = found.hints[1];
  CHECK(h.name == "h");
  CHECK(h.along_time == std::vector<double>{1, 0.5});
  CHECK(h.score.value() == doctest::Approx((2 * 1 + 1 * 0.5) / 3));
  CHECK(h.exact == 0.5);  // the second sample
  CHECK(d.along_time == std::vector<double>{(4 + 4) / 4.0, 1});
  CHECK(d.score.value() == doctest::Approx((2 * 2 + 1) / 3.0));
  CHECK(d.exact == 1);  // a scalar is no choice
  CHECK(found.hints_exact == 0.5);
}

TEST_CASE("evaluate: batches of other lengths add up frame by frame") {
  const TwoSamples both;
  ScoreSums sums(both.spec, Predictions::Hints::kLogits);
  for (int b = 1; b >= 0; --b) {  // the shorter first
    TwoSamples one;
    one.batch = test::sample_of(both.batch, b);
    one.predictions.values.assign(4, {});
    for (std::size_t p = 0; p < 4; ++p) {
      const std::int64_t rows = both.spec[p].stage == Stage::kHint ? one.batch.frames - 1 : 1;
      for (std::int64_t t = 0; t < rows; ++t) {
        const Real* row = both.predictions.at(both.batch, p, t, b);
        one.predictions.values[p].insert(one.predictions.values[p].end(), row,
                                         row + logits_per_sample(both.batch, p));
      }
    }
    sums.add(one.batch, one.predictions);
  }
  const Evaluation apart = sums.result(), whole = both.result(Predictions::Hints::kLogits);
  CHECK(apart.running == whole.running);
  CHECK(apart.score == whole.score);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(apart.hints[i].along_time == whole.hints[i].along_time);
    CHECK(apart.hints[i].score == whole.hints[i].score);
  }
}

TEST_CASE("evaluate: without a second frame no hint has a score") {
  TwoSamples still;
  still.batch.frames = 1;
  still.batch.lengths = {1, 1};
  for (std::size_t p = 0; p < 2; ++p) still.batch.values[p].resize(4);
  const Evaluation found = still.result(Predictions::Hints::kLogits);
  CHECK(found.running.empty());
  CHECK_FALSE(found.hints[0].score.has_value());
  CHECK(found.hints[0].along_time.empty());
  CHECK(found.outputs[0].score == 0.75);
}

TEST_CASE("evaluate: hints kept as choices score as their logits") {
  const Net net("every", test::every_probe(), test::small_options());
  for (const int nodes : {1, 4}) {
    const Batch batch = test::random_batch(net.spec(), nodes, {3, 1, 4, 2});
    const auto evaluation = [&](Predictions::Hints hints) {
      ShardRunner runner(1);
      Predictions predictions{.hints = hints, .values = {}};
      runner.predict(net, batch, predictions);
      ScoreSums sums(net.spec(), hints);
      sums.add(batch, predictions);
      return sums.result();
    };
    const Evaluation logits = evaluation(Predictions::Hints::kLogits);
    const Evaluation kept = evaluation(Predictions::Hints::kChoices);
    REQUIRE(logits.hints.size() > 10);
    REQUIRE(logits.running == std::vector<int>{3, 2, 1});
    for (std::size_t i = 0; i < logits.hints.size(); ++i) {
      CAPTURE(logits.hints[i].name);
      CHECK(kept.hints[i].along_time == logits.hints[i].along_time);
      CHECK(kept.hints[i].exact == logits.hints[i].exact);
    }
    CHECK(kept.score == logits.score);
    CHECK(kept.score == evaluation(Predictions::Hints::kNone).score);
  }
}

}  // namespace
}  // namespace renar::evaluate_test
