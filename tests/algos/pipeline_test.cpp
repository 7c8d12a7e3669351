// The training pipeline: what each of its switches does, and what it refuses. That all of it gives
// the reference's numbers is in golden_test.cpp.
#include "algos/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "algos/dataset.h"
#include "core/check.h"

namespace renar::pipeline_test {
namespace {

using Values = std::vector<double>;

constexpr Pipeline kNothing{
    .random_positions = false, .pred_as_input = false, .permutations = false};

TraceBatch samples_of(const Algorithm& algorithm) {
  return make_dataset(algorithm, 4, 3, 1, algorithm.training);
}

TraceBatch after(const Pipeline& pipeline, const Algorithm& algorithm, TraceBatch batch) {
  apply_but_positions(pipeline, algorithm, batch);
  CHECK(batch.spec == spec_after(pipeline, algorithm));
  return batch;
}

TEST_CASE("pipeline: positions are sorted within segments that start at 0") {
  TraceBatch batch;
  batch.spec = Spec{{"pos", Stage::kInput, Location::kNode, Type::kScalar}};
  batch.samples = batch.nodes = 2;
  batch.frames = 1;
  batch.lengths = {1, 1};
  batch.values = {{0, 0.5, 0, 0}};  // one segment; two
  NumpyRandom random(8), same(8);   // draws 0.87, 0.97, 0.87, 0.53: only a sort would turn the last
  randomize_positions(batch, random);
  const Values drawn = same.uniform(0, 1, 4);
  REQUIRE(drawn[2] > drawn[3]);
  CHECK(batch["pos"] == drawn);

  batch.values[0] = {0, 0.5, 0, 0.5};
  NumpyRandom once_more(8);
  randomize_positions(batch, once_more);
  CHECK(batch["pos"] == Values{drawn[0], drawn[1], drawn[3], drawn[2]});
}

TEST_CASE("pipeline: each part alone, and none of it") {
  const Algorithm& tree = find_algorithm("optimal_bst");
  REQUIRE(tree.pred_is_input);
  const TraceBatch trees = samples_of(tree);
  CHECK(after(kNothing, tree, trees).values == trees.values);
  Pipeline inputs = kNothing;
  inputs.pred_as_input = true;
  const TraceBatch with_input = after(inputs, tree, trees);
  const Values& hint = trees["pred_h"];
  const Values& input = with_input["pred"];
  CHECK(input == Values(hint.begin(), hint.begin() + 3 * trees.nodes));  // frame 0

  const Algorithm& sort = find_algorithm("bubble_sort");
  const TraceBatch sorts = samples_of(sort);
  CHECK(after(kNothing, sort, sorts).values == sorts.values);
  CHECK(sorts.spec[sorts.spec.index_of("pred")].type == Type::kShouldBePermutation);
  Pipeline orders = kNothing;
  orders.permutations = true;
  const TraceBatch ordered = after(orders, sort, sorts);
  CHECK(ordered.spec[ordered.spec.index_of("pred")].type == Type::kPermutationPointer);
  CHECK(std::count(ordered["pred_mask"].begin(), ordered["pred_mask"].end(), 1) == 3);

  NumpyRandom random(2), same(2);
  TraceBatch still = sorts, moved = sorts;
  apply(kNothing, sort, still, random);
  CHECK(still.values == sorts.values);
  CHECK(random.random_sample() == same.random_sample());  // nothing was drawn
  apply({.random_positions = true, .pred_as_input = false, .permutations = false}, sort, moved,
        random);
  CHECK(moved["pos"] != sorts["pos"]);
  CHECK(moved["pred"] == sorts["pred"]);
}

TEST_CASE("pipeline: an order becomes a cycle with its first node marked") {
  const Algorithm& sort = find_algorithm("bubble_sort");
  const auto cycle_of = [&](const Values& pointers) {
    TraceBatch batch = make_dataset(sort, static_cast<int>(pointers.size()), 1, 1, sort.training);
    batch.values[batch.spec.index_of("pred")] = pointers;
    return after({}, sort, batch);
  };
  const TraceBatch three = cycle_of({2, 1, 1});  // 0 after 2 after 1
  CHECK(three["pred"] == Values{0, 0, 1, 1, 0, 0, 0, 1, 0});
  CHECK(three["pred_mask"] == Values{0, 1, 0});
  const TraceBatch one = cycle_of({0});
  CHECK(one["pred"] == Values{1});
  CHECK(one["pred_mask"] == Values{1});
  const Values no_orders[] = {{0, 0, 0},      // two nodes after the first
                              {0, 1, 1},      // two first nodes
                              {1, 2, 0},      // a cycle already
                              {0, 0, 3, 2}};  // a chain, and a cycle beside it
  for (const Values& pointers : no_orders) {
    CAPTURE(pointers.size());
    CHECK_THROWS_WITH_AS(cycle_of(pointers), doctest::Contains("pred of sample 0 is no order"),
                         Error);
  }
}

TEST_CASE("pipeline: a pred_h that changes and a batch of another algorithm are refused") {
  const Algorithm& tree = find_algorithm("optimal_bst");
  TraceBatch trees = samples_of(tree);
  const std::size_t hint = trees.spec.index_of("pred_h");
  REQUIRE(trees.frames > 1);
  trees.values[hint][static_cast<std::size_t>(3 * trees.nodes)] += 1;  // frame 1, sample 0
  CHECK_THROWS_WITH_AS(apply_but_positions({}, tree, trees),
                       "[pipeline] pred_h of sample 0 changes in frame 1: it is no input", Error);
  CHECK_THROWS_AS(apply_but_positions({}, find_algorithm("bfs"), trees), Error);
}

}  // namespace
}  // namespace renar::pipeline_test
