// Samplers, registry, fixed sets and the training stream.
#include "algos/dataset.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "algos/training_stream.h"
#include "core/check.h"
#include "tests/source_dir.h"

namespace renar::dataset_test {
namespace {

using Values = std::vector<double>;

const Algorithm& dfs_entry() { return find_algorithm("dfs"); }

/// A stream small enough for many tests.
StreamConfig small(DataOrder order) {
  return {.order = order, .seed = 7, .lengths = {2, 5, 5}, .val_length = 4, .batch_size = 3};
}

TEST_CASE("samplers: graphs of the reference from seed 1") {
  // The first inputs of topological_sort, dag_shortest_paths and bellman_ford at n = 4.
  NumpyRandom unweighted(1), weighted(1), undirected(1);
  CHECK(random_er_graph(unweighted, 4, 0.5, Edges::kAcyclic).values() ==
        Values{0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(random_weighted_er_graph(weighted, 4, 0.5, Edges::kAcyclic).values() ==
        Values{0, 0, 0.8007445686755367, 0, 0, 0, 0, 0.8946066635038473, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(random_weighted_er_graph(undirected, 4, 0.5, Edges::kUndirected).values() ==
        Values{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.42229330072521354});
}

TEST_CASE("samplers: shapes of the graphs, and parameters that make none") {
  NumpyRandom random(3);
  const Matrix symmetric = random_er_graph(random, 9, 0.7, Edges::kUndirected);
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) CHECK(symmetric(i, j) == symmetric(j, i));
  }
  CHECK(random_er_graph(random, 3, 0, Edges::kDirected).values() == Values(9, 0));
  CHECK(random_er_graph(random, 3, 1, Edges::kUndirected).values() == Values(9, 1));
  CHECK(random_er_graph(random, 1, 1, Edges::kAcyclic).values() == Values{0});

  CHECK_THROWS_AS(random_er_graph(random, 0, 0.5, Edges::kDirected), Error);
  CHECK_THROWS_AS(random_er_graph(random, -1, 0.5, Edges::kDirected), Error);
  for (const Values& p : {Values{}, Values{1.5}, Values{0.5, -0.1}, Values{NAN}}) {
    CHECK_THROWS_AS(choose_edge_probability(random, {.p = p}), Error);
  }
}

TEST_CASE("registry: the 30 of CLRS-30 and two more, by name") {
  CHECK(algorithms().size() == 32);
  const auto in_clrs30 = [](const Algorithm& a) { return a.in_clrs30; };
  CHECK(std::count_if(algorithms().begin(), algorithms().end(), in_clrs30) == 30);
  for (std::size_t i = 1; i < algorithms().size(); ++i) {
    CHECK(algorithms()[i - 1].name < algorithms()[i].name);
  }
  for (const Algorithm& a : algorithms()) {
    const std::string folder = test::source_dir() + "/algos/" + std::string(name_of(a.category));
    CHECK(std::filesystem::exists(folder + "/" + a.name + ".cpp"));
    CHECK(!a.inputs.empty());
  }
}

TEST_CASE("registry: a misspelt name is answered with the nearest and all valid ones") {
  CHECK(find_algorithm("bfs").name == "bfs");
  CHECK(find_algorithm("dfs").training.p.size() == 9);
  CHECK(find_algorithm("dfs").training.p[2] == 0.30000000000000004);  // 0.1 + 0.1 * 2 in Python
  std::string what;
  try {
    find_algorithm("dsf");
  } catch (const UsageError& error) {
    what = error.what();
  }
  CHECK(what.starts_with("unknown algorithm 'dsf'; the nearest match is 'dfs', all of them: "));
  for (const Algorithm& algorithm : algorithms()) {
    CHECK(what.find(algorithm.name) != std::string::npos);
  }
  CHECK_THROWS_AS(split_of("tset"), UsageError);
  CHECK(split_of("val") == Split::kVal);
}

TEST_CASE("dataset: sizes, seeds, and requests that cannot be served") {
  CHECK(samples_in(dfs_entry(), Split::kTrain) == 1000);
  CHECK(samples_in(dfs_entry(), Split::kTest) == 32);
  const auto test_set = [](int length, int samples) {
    return make_dataset(dfs_entry(), length, samples, clrs30(Split::kTest).seed,
                        dfs_entry().dataset);
  };
  const TraceBatch test = test_set(64, 32);
  CHECK(test.values == make_clrs30(dfs_entry(), Split::kTest).values);
  CHECK(test_set(64, 5)["A"] == Values(test["A"].begin(), test["A"].begin() + 5 * 64 * 64));
  CHECK(test_set(24, 2).nodes == 24);
  CHECK_THROWS_WITH_AS(test_set(64, 0), "[dataset] 0 samples of dfs, ask for at least one", Error);
  CHECK_THROWS_AS(test_set(0, 1), Error);
}

TEST_CASE("training_stream: lengths take turns, positions are random and sorted") {
  for (const DataOrder order : {DataOrder::kOwn, DataOrder::kClrs}) {
    TrainingStream stream(dfs_entry(), small(order));
    for (const int length : {2, 5, 5, 2}) {
      const TraceBatch batch = stream.next();
      CHECK(batch.nodes == length);
      CHECK(batch.samples == 3);
      CHECK(batch["pos"][0] > 0);
      CHECK(batch["pos"][0] < batch["pos"][1]);
    }
    CHECK(stream.drawn() == 4);
    CHECK(stream.validation().nodes == 4);
    CHECK(stream.validation().samples == 64);
    CHECK(stream.validation()["pos"][0] > 0);

    StreamConfig even = small(order);
    even.pipeline.random_positions = false;
    TrainingStream plain(dfs_entry(), even);
    CHECK(plain.next()["pos"] == Values{0, 0.5, 0, 0.5, 0, 0.5});
    CHECK(plain.validation()["pos"][1] == 0.25);
  }
}

TEST_CASE("training_stream: evaluating moves the peer's order only") {
  for (const DataOrder order : {DataOrder::kOwn, DataOrder::kClrs}) {
    TrainingStream quiet(dfs_entry(), small(order)), evaluated(dfs_entry(), small(order));
    evaluated.note_evaluation();
    const TraceBatch a = quiet.next(), b = evaluated.next();
    CHECK(a["A"] == b["A"]);
    CHECK((a["pos"] == b["pos"]) == (order == DataOrder::kOwn));
  }
}

TEST_CASE("training_stream: generators of one run, and of several, are separate") {
  TrainingStream stream(dfs_entry(), small(DataOrder::kOwn));
  stream.next();
  CHECK(stream.next()["A"] != stream.next()["A"]);  // the same length twice
  StreamConfig other = small(DataOrder::kOwn);
  other.seed = 8;
  CHECK(TrainingStream(dfs_entry(), other).next()["pos"] !=
        TrainingStream(dfs_entry(), small(DataOrder::kOwn)).next()["pos"]);
  CHECK(derived_seed(42, "dfs/train/0") == 690408239u);  // pinned: a change would change all runs
}

TEST_CASE("training_stream: a restored stream goes on with the same bits") {
  for (const DataOrder order : {DataOrder::kOwn, DataOrder::kClrs}) {
    TrainingStream stream(dfs_entry(), small(order)), resumed(dfs_entry(), small(order));
    for (int i = 0; i < 4; ++i) stream.next();
    stream.note_evaluation();
    resumed.restore(stream.state());
    for (int i = 0; i < 5; ++i) CHECK(resumed.next().values == stream.next().values);
    CHECK(resumed.state() == stream.state());
  }
}

TEST_CASE("training_stream: several algorithms take turns, each with its own lengths and batches") {
  const std::vector<const Algorithm*> both = {&find_algorithm("bfs"), &dfs_entry()};
  for (const DataOrder order : {DataOrder::kOwn, DataOrder::kClrs}) {
    TrainingStream stream(both, small(order)), alone(dfs_entry(), small(order));
    for (const int length : {2, 5, 5, 2}) {
      for (const Algorithm* algorithm : both) {
        const TraceBatch batch = stream.next();
        CHECK(batch.spec == algorithm->spec());
        CHECK(batch.nodes == length);
        if (algorithm != both[1]) continue;
        CHECK((batch.values == alone.next().values) == (order == DataOrder::kOwn));
      }
    }
    CHECK(stream.validation(0).spec == both[0]->spec());
    CHECK(stream.validation(1).spec == both[1]->spec());
  }
}

TEST_CASE("training_stream: the state before the last batch draws that batch again") {
  for (const DataOrder order : {DataOrder::kOwn, DataOrder::kClrs}) {
    TrainingStream stream(dfs_entry(), small(order)), again(dfs_entry(), small(order));
    CHECK_THROWS_AS(stream.state_before_last(), Error);
    for (int i = 0; i < 4; ++i) {
      const std::vector<std::uint32_t> before = stream.state();
      const TraceBatch batch = stream.next();
      CHECK(stream.state_before_last() == before);
      again.restore(stream.state_before_last());
      CHECK(again.next().values == batch.values);
    }
  }
}

TEST_CASE("training_stream: the string matchers train on one length") {
  Algorithm matcher = dfs_entry();
  matcher.category = Category::kStrings;
  CHECK(training_lengths(matcher, {4, 7, 11, 13, 16}) == std::vector<int>{20});
  CHECK(training_lengths(dfs_entry(), {4, 7}) == std::vector<int>{4, 7});
  TrainingStream stream({&matcher, &dfs_entry()}, {.lengths = {4, 8}, .batch_size = 1});
  CHECK(stream.next().nodes == 10);
  CHECK(stream.next().nodes == 4);  // the matcher's length is the matcher's alone
  CHECK(stream.next().nodes == 10);
  CHECK(stream.next().nodes == 8);
  CHECK(stream.validation(0).nodes == 10);
  CHECK(stream.validation(1).nodes == 8);
}

TEST_CASE("training_stream: a foreign state changes nothing") {
  TrainingStream stream(dfs_entry(), small(DataOrder::kOwn));
  const std::vector<std::uint32_t> before = stream.state();
  std::vector<std::uint32_t> broken = before;
  broken.back() = 625;  // the last generator's position
  broken[4] ^= 1;       // and a word of the first, which must not be taken over
  CHECK_THROWS_AS(stream.restore(broken), Error);
  CHECK_THROWS_AS(stream.restore(std::vector<std::uint32_t>()), Error);
  CHECK_THROWS_AS(stream.restore(std::span(before).first(before.size() - 1)), Error);
  CHECK(stream.state() == before);
}

TEST_CASE("training_stream: configurations that cannot be served") {
  StreamConfig config;
  config.lengths.clear();
  CHECK_THROWS_AS(TrainingStream(dfs_entry(), config), UsageError);
  config.lengths = {4, 0};
  CHECK_THROWS_AS(TrainingStream(dfs_entry(), config), UsageError);
  config = small(DataOrder::kOwn);
  config.batch_size = 0;
  CHECK_THROWS_AS(TrainingStream(dfs_entry(), config), UsageError);
  for (const DataOrder order : {DataOrder::kOwn, DataOrder::kClrs}) {
    config = small(order);
    config.lengths = {8, 3};  // the second in turn, of which no sample of the validation set is
    CHECK_THROWS_WITH_AS(
        TrainingStream(find_algorithm("strongly_connected_components"), config),
        "training data of strongly_connected_components: [samplers] a graph of 4 communities takes "
        "at least 4 nodes, not 3",
        UsageError);
  }
}

}  // namespace
}  // namespace renar::dataset_test
