// Evaluation: every sample once and in order, whatever the size of its batches.
#include "trainer/evaluate.h"

#include <doctest/doctest.h>

#include "tests/nn/small.h"

namespace renar {
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
    const double want = batch_score(whole, predictions);
    REQUIRE(want > 0);
    REQUIRE(want < 1);
    for (const int batch_size : {1, 3, 7, 100}) {
      const EvaluationSet set(net.spec(), traces, batch_size);
      CHECK(set.samples() == 7);
      CHECK(set.nodes() == 5);
      int batches = 0;
      const auto found = set.score(net, runner, [&] { return ++batches > 0; });
      REQUIRE(found.has_value());
      CHECK(batches == (7 + batch_size - 1) / batch_size);
      CHECK(found->score == want);
      CHECK(found->samples == 7);
      CHECK(found->nodes == 5);
      REQUIRE(found->outputs.size() == 1);
      CHECK(found->outputs[0].name == "pi");
      CHECK(found->outputs[0].score == want);
      TrivialCounts counts;
      count_trivial(whole, net.spec().index_of("pi"), counts);
      CHECK(found->trivial == trivial_score(net.spec()[net.spec().index_of("pi")], counts));
      CHECK(found->trivial > 0);
      CHECK(found->trivial == found->outputs[0].trivial);
      CHECK(set.score(net, runner, [] { return true; })->score == want);  // nothing is left over
    }
  }
}

TEST_CASE("evaluate: given up where it is told to") {
  const TraceBatch traces = make_dataset(find_algorithm("bfs"), 4, 6, 3, {.p = {0.5}});
  const Net net = test::small_net("bfs");
  ShardRunner runner(1);
  const EvaluationSet set(net.spec(), traces, 2);
  int asked = 0;
  CHECK(!set.score(net, runner, [&] { return ++asked < 2; }).has_value());
  CHECK(asked == 2);
}

}  // namespace
}  // namespace renar
