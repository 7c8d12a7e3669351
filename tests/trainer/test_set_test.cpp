// Test sets drawn a few samples at a time: the very samples of the set, whatever the batches.
#include "trainer/test_set.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/nn/small.h"

namespace renar::test_set_test {
namespace {

constexpr Pipeline kPlain{false, true, true};

/// The batches of a set one after another.
std::vector<Batch> batches_of(const TestSet& set, const Spec& spec, BatchSource::Limits limits) {
  BatchSource source(set, spec, 2, limits);
  std::vector<Batch> batches;
  for (Batch batch; source.next(batch);) batches.push_back(batch);
  return batches;
}

TEST_CASE("test_set: the CLRS-30 test set, sample by sample") {
  const Algorithm& algorithm = find_algorithm("bfs");
  const TestSet set = clrs30_set(algorithm, kPlain, Split::kTest, 64, 0);
  CHECK(set.samples == 32);
  const TraceBatch whole = make_clrs30(algorithm, Split::kTest);
  int sample = 0;
  for (const Batch& batch : batches_of(set, algorithm.spec(), {.samples = 5})) {
    const int end = sample + static_cast<int>(batch.size);
    const Batch want = batch_of_range(algorithm.spec(), whole, sample, end);
    CHECK(batch.values == want.values);
    CHECK(batch.lengths == want.lengths);
    CHECK(batch.task == 2);
    sample = end;
  }
  CHECK(sample == 32);
}

TEST_CASE("test_set: a full batch ends, and no sample is lost or too large") {
  const Algorithm& algorithm = find_algorithm("heapsort");
  const TestSet set = clrs30_set(algorithm, kPlain, Split::kVal, 9, 7);
  const Spec spec = spec_after(kPlain, algorithm);
  const std::vector<Batch> one = batches_of(set, spec, {.samples = 100});
  REQUIRE(one.size() == 1);
  CHECK(one[0].size == 7);
  const auto lengths = [](const std::vector<Batch>& batches) {
    std::vector<int> all;
    for (const Batch& batch : batches) {
      all.insert(all.end(), batch.lengths.begin(), batch.lengths.end());
    }
    return all;
  };
  const std::vector<Batch> single = batches_of(set, spec, {.samples = 100, .bytes = 1});
  CHECK(single.size() == 7);
  CHECK(lengths(single) == one[0].lengths);
  std::int64_t numbers = 0;
  for (const std::vector<Real>& values : one[0].values) {
    numbers += static_cast<std::int64_t>(values.size());
  }
  // Truth in double and float and predictions: 16 bytes a number of the whole set, a bit more.
  const std::int64_t half = numbers * 16 / 2;
  const std::vector<Batch> parts = batches_of(set, spec, {.samples = 100, .bytes = half});
  CHECK(parts.size() >= 2);
  CHECK(parts.size() <= 4);
  CHECK(lengths(parts) == one[0].lengths);
}

TEST_CASE("test_set: the scores of the whole set at once") {
  const Algorithm& algorithm = find_algorithm("dfs");
  const Net net = test::small_net("dfs");
  const TestSet set = clrs30_set(algorithm, kPlain, Split::kTest, 5, 13);
  ShardRunner runner(1);
  int asked = 0;
  std::vector<int> told;
  const auto go_on = [&](int done) {
    told.push_back(done);
    return ++asked < 100;
  };
  const Evaluation found =
      evaluate(net, 0, set, runner, Predictions::Hints::kChoices, go_on).value();
  CHECK(told == std::vector<int>{0, 8, 13});
  const TraceBatch traces =
      make_dataset(algorithm, 5, 13, clrs30(Split::kTest).seed, algorithm.dataset);
  const EvaluationSet whole(net.spec(), traces, 13);
  const Evaluation want = whole.score(net, runner);
  CHECK(found.score == want.score);
  CHECK(found.exact == want.exact);
  CHECK(found.trivial == want.trivial);
  CHECK(found.samples == 13);
  CHECK(found.hints.size() == 10);
  asked = 98;
  CHECK_FALSE(evaluate(net, 0, set, runner, Predictions::Hints::kNone, go_on).has_value());
}

TEST_CASE("test_set: seed and parameters are the set's") {
  const Algorithm& algorithm = find_algorithm("bfs");
  const TestSet val = clrs30_set(algorithm, kPlain, Split::kVal, 16, 0);
  CHECK(batches_of(val, algorithm.spec(), {.samples = 32})[0].values ==
        batch_of_range(algorithm.spec(), make_clrs30(algorithm, Split::kVal), 0, 32).values);
  TestSet edgeless = val;
  edgeless.params.p = {0};
  CHECK(batches_of(edgeless, algorithm.spec(), {.samples = 32})[0].frames == 1);
  CHECK(clrs30_set(find_algorithm("minimum"), kPlain, Split::kTest, 8, 0).samples == 32 * 64);
}

TEST_CASE("test_set: nothing to score is refused") {
  const Net net = test::small_net("bfs");
  TestSet set = clrs30_set(find_algorithm("bfs"), kPlain, Split::kTest, 4, 1);
  set.samples = 0;
  ShardRunner runner(1);
  const auto score = [&] {
    evaluate(net, 0, set, runner, Predictions::Hints::kNone, [](int) { return true; });
  };
  CHECK_THROWS_WITH_AS(score(), doctest::Contains("0 samples of bfs"), Error);
  set.samples = 1;
  set.length = 0;
  CHECK_THROWS_AS(score(), Error);
}

TEST_CASE("test_set: lengths that the sampler or the net cannot serve are found beforehand") {
  const auto problem = [](const std::string& algo, const std::string& processor, int length) {
    const Net net = test::small_net(algo, test::small_options(processor, 2));
    const Algorithm& algorithm = find_algorithm(algo);
    try {
      check_length(clrs30_set(algorithm, kPlain, Split::kTest, length, 1), net, "--test-lengths");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(problem("strongly_connected_components", "mpnn", 4).empty());
  CHECK(
      problem("strongly_connected_components", "mpnn", 3) ==
      "--test-lengths 3: strongly_connected_components: [samplers] a graph of 4 communities takes "
      "at least 4 nodes, not 3");
  CHECK(problem("minimum", "memnet_full", 127).empty());
  CHECK(problem("minimum", "memnet_full", 128) ==
        "--test-lengths 128: minimum: [processor] memnet keeps 128 memories: graphs of at most 127 "
        "nodes, not of 128");
}

}  // namespace
}  // namespace renar::test_set_test
