// The cut of a batch into shards, and how a shard reads its samples.
#include "nn/batch.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support.h"

namespace renar::nn_batch_test {
namespace {

const Spec kSpec = {
    {"x", Stage::kInput, Location::kNode, Type::kScalar},
    {"to", Stage::kInput, Location::kNode, Type::kPointer},
    {"color", Stage::kHint, Location::kNode, Type::kCategorical, 3},
    {"at", Stage::kHint, Location::kNode, Type::kMaskOne},
    {"done", Stage::kOutput, Location::kGraph, Type::kMask},
};

/// Every number says where it stands: 100 * frame + sample, but for pointers and one-hot probes.
Batch batch_of_lengths(std::vector<int> lengths, std::int64_t nodes) {
  Batch batch;
  batch.spec = &kSpec;
  batch.size = static_cast<std::int64_t>(lengths.size());
  batch.nodes = nodes;
  batch.frames = *std::max_element(lengths.begin(), lengths.end());
  batch.lengths = std::move(lengths);
  for (const Probe& probe : kSpec) {
    std::vector<Real> values;
    for (std::int64_t t = 0; t < (probe.stage == Stage::kHint ? batch.frames : 1); ++t) {
      for (std::int64_t b = 0; b < batch.size; ++b) {
        const std::size_t count = count_of(probe, static_cast<int>(nodes));
        const bool pointer = probe.type == Type::kPointer;
        values.insert(values.end(), count, static_cast<Real>(pointer ? b % nodes : 100 * t + b));
      }
    }
    batch.values.push_back(values);
  }
  batch.cut();
  return batch;
}

TEST_CASE("batch: cut sorts by length, longest first and ties in order") {
  const Batch batch = batch_of_lengths({2, 5, 1, 5, 3}, 2);
  CHECK(batch.order == std::vector<int>{1, 3, 4, 0, 2});
  CHECK(batch.strides == std::vector<std::int64_t>{2, 2, 6, 2, 1});
}

TEST_CASE("batch: a shard has about kShardRows edges and at least one sample") {
  const auto shard_sizes = [](std::size_t samples, std::int64_t nodes, int length = 1) {
    std::vector<std::int64_t> sizes;
    const Batch batch = batch_of_lengths(std::vector<int>(samples, length), nodes);
    std::int64_t begin = 0;
    for (const Batch::Shard& shard : batch.shards) {
      CHECK(shard.begin == begin);
      begin = shard.end;
      sizes.push_back(shard.end - shard.begin);
    }
    CHECK(begin == static_cast<std::int64_t>(samples));
    return sizes;
  };
  using Sizes = std::vector<std::int64_t>;
  static_assert(kShardRows == 256);
  CHECK(shard_sizes(7, 11) == Sizes{2, 2, 2, 1});  // 2 * 121 rows
  CHECK(shard_sizes(3, 16) == Sizes{1, 1, 1});
  CHECK(shard_sizes(2, 40) == Sizes{1, 1});
  CHECK(shard_sizes(20, 4) == Sizes{16, 4});
  CHECK(shard_sizes(1, 1) == Sizes{1});
  // Short trajectories share a shard, but eight shards there are.
  static_assert(kShardWork == 4096 && kMostShardRows == 1024 && kLeastShards == 8);
  CHECK(shard_sizes(32, 16, 3) == Sizes(8, 4));
  CHECK(shard_sizes(32, 16, 8) == Sizes{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2});  // 7 * 256 rows of work
  CHECK(shard_sizes(32, 16, 16) == Sizes(16, 2));
  CHECK(shard_sizes(32, 16, 17) == Sizes(32, 1));
  CHECK(shard_sizes(64, 16, 3) == Sizes(16, 4));  // 1024 rows a step
  CHECK(shard_sizes(32, 32, 2) == Sizes(32, 1));
}

TEST_CASE("batch: samples that run and that are compared are prefixes of their shard") {
  const Batch batch = batch_of_lengths({2, 5, 1, 5, 3}, 2);
  const Samples samples(batch, {1, 5});  // lengths 5, 3, 2, 1
  CHECK(samples.size() == 4);
  CHECK(samples.index(0) == 3);
  CHECK(samples.index(3) == 2);
  CHECK(samples.length(1) == 3);
  CHECK(samples.steps() == 4);
  // A sample of T frames runs max(1, T - 1) steps; step t is compared where there is a frame t + 1.
  const std::int64_t active[] = {4, 2, 1, 1, 0}, compared[] = {3, 2, 1, 1, 0};
  for (std::int64_t step = 0; step < 5; ++step) {
    CHECK(samples.active(step) == active[step]);
    CHECK(samples.compared(step) == compared[step]);
  }
  CHECK(steps_of(1) == 1);
  CHECK(steps_of(2) == 1);
  CHECK(steps_of(3) == 2);
}

TEST_CASE("batch: rounded lengths are those of two groups") {
  static_assert(kLengthGroups == 2);
  const Batch batch = batch_of_lengths({2, 5, 1, 5, 3}, 2);
  const Samples own(batch, {0, 5}), rounded(batch, {0, 5}, Lengths::kRounded);
  CHECK(!own.rounded());
  CHECK(rounded.rounded());
  CHECK(rounded.steps() == 4);
  CHECK(rounded.frames() == 5);
  // Lengths 5, 5, 3 and 2, 1.
  const std::int64_t running[] = {5, 3, 3, 3, 0}, last[] = {3, 3, 1, 0, 0};
  for (std::int64_t step = 0; step < 5; ++step) {
    CHECK(rounded.active(step) == running[step]);
    CHECK(rounded.compared(step) == running[step]);
    if (step < 4) CHECK(rounded.going_on(step) == running[step + 1]);
    CHECK(rounded.last_step(step) == last[step]);
    CHECK(own.last_step(step) == last[step]);
  }
  CHECK(own.active(2) == 2);
  CHECK(own.frames() == 5);
  const Samples one(batch, {4, 5}, Lengths::kRounded);  // of one frame
  CHECK(one.steps() == 1);
  CHECK(one.active(0) == 1);
  CHECK(one.compared(0) == 1);
  CHECK(one.frames() == 2);
}

TEST_CASE("batch: long rounded lengths end at one of sixteen steps, and may have no frame there") {
  static_assert(kLengthParts == 16);
  const auto steps_run = [](const std::vector<int>& lengths) {
    const Batch batch = batch_of_lengths(lengths, 1);
    const Samples samples(batch, {0, batch.size}, Lengths::kRounded);
    std::vector<std::int64_t> all;
    for (std::int64_t k = 1; k <= samples.size(); ++k) {
      std::int64_t steps = 0;
      while (samples.active(steps) >= k) ++steps;
      all.push_back(steps);
    }
    CHECK(all[0] == samples.steps());
    return all;
  };
  using Steps = std::vector<std::int64_t>;
  CHECK(steps_run({17, 16, 8, 2}) == Steps{16, 16, 7, 7});     // at most 16 steps: as they are
  CHECK(steps_run({18, 16, 8, 2}) == Steps{18, 18, 8, 8});     // else even numbers
  CHECK(steps_run({40, 20, 30, 1}) == Steps{40, 40, 20, 20});  // 39 and 19 by fours
  CHECK(steps_run({40, 20, 4}) == Steps{40, 40, 4});
  CHECK(steps_run({40, 40, 40}) == Steps{39, 39, 39});  // of one length
  const Batch batch = batch_of_lengths({18, 16, 8, 2}, 2);
  const Samples samples(batch, {0, 4}, Lengths::kRounded);
  CHECK(samples.frames() == 19);
  test::FreshTape fresh;
  const Tensor last = samples.features(fresh.tape, 2, 17);
  test::check_values(samples.features(fresh.tape, 2, 18), {last.data, last.data + last.size()}, 0);
}

TEST_CASE("batch: a device's lengths are rounded where few edges are added") {
  static_assert(kPaddedRows == 2048);
  // Of 4 samples of 3, 1, 1, 1 steps the second goes on for two: 2 n n in 3 steps.
  const auto lengths_at = [](std::int64_t nodes, const std::vector<int>& lengths) {
    return lengths_on_device(batch_of_lengths(lengths, nodes));
  };
  CHECK(lengths_at(55, {4, 1, 2, 1}) == Lengths::kRounded);  // 6050 of 6144
  CHECK(lengths_at(56, {4, 1, 2, 1}) == Lengths::kOwn);      // 6272
  CHECK(lengths_at(56, {4, 4, 1, 1}) == Lengths::kRounded);  // none is added
  CHECK(lengths_at(70, {5, 5, 5, 5}) == Lengths::kRounded);
  Batch parts = batch_of_lengths({4, 4}, 2);
  parts.parts = {{0, true, true}, {1, true, false}};
  parts.cut();
  CHECK(lengths_on_device(parts) == Lengths::kOwn);
}

TEST_CASE("batch: of the parts that stop at a step the unfinished come first, and go on") {
  Batch batch = batch_of_lengths({2, 1, 2, 3, 2}, 2);
  const Samples whole(batch, {0, 5});
  CHECK(whole.going_on(0) == 1);
  CHECK(whole.going_on(1) == 0);
  CHECK(batch.ends(3));
  batch.parts = {
      {0, true, true}, {1, false, true}, {2, false, false}, {3, true, false}, {4, true, true}};
  batch.cut();
  CHECK(batch.order == std::vector<int>{3, 2, 0, 4, 1});
  const Samples samples(batch, {0, 5});
  CHECK(samples.active(1) == 1);
  CHECK(samples.going_on(0) == 2);  // sample 3 here, 2 in its next part
  CHECK(samples.going_on(1) == 1);  // 3 in its next part
  CHECK(!batch.ends(3));
}

TEST_CASE("batch: features are read in the shard's order") {
  const Batch batch = batch_of_lengths({1, 3, 2}, 2);  // order 1, 2, 0
  const Samples samples(batch, {0, 3});
  test::FreshTape fresh;
  test::check_values(samples.features(fresh.tape, 0, 0), {1, 1, 2, 2, 0, 0}, 0);
  const Tensor to = samples.features(fresh.tape, 1, 0);  // sample b points at b % 2, as one-hot
  CHECK(to.shape == Shape{3, 2, 2});
  test::check_values(to, {0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0}, 0);
}

TEST_CASE("batch: marked_class and choices") {
  const std::vector<Real> row = {0, -1, 1, 0};
  CHECK(marked_class(row.data(), 4) == 2);
  CHECK(marked_class(row.data(), 2) == -1);
  const std::int64_t want[] = {1, 7, 3, 7, 1};
  for (std::size_t p = 0; p < kSpec.size(); ++p) CHECK(choices(kSpec[p], 7) == want[p]);
}

TEST_CASE("batch: pointers of edges and graphs, and permutations") {
  static const Spec spec = {{"e", Stage::kInput, Location::kEdge, Type::kPointer},
                            {"g", Stage::kInput, Location::kGraph, Type::kPointer},
                            {"q", Stage::kInput, Location::kNode, Type::kShouldBePermutation},
                            {"p", Stage::kOutput, Location::kNode, Type::kPermutationPointer}};
  Batch batch;
  batch.spec = &spec;
  batch.size = batch.frames = 1;
  batch.nodes = 2;
  batch.lengths = {1};
  batch.values = {{0, 1, 1, 1}, {1}, {1, 0}, {0, 1, 1, 0}};
  batch.cut();
  CHECK(batch.strides == std::vector<std::int64_t>{4, 1, 2, 4});
  const Samples samples(batch, {0, 1});
  test::FreshTape fresh;
  // Edges (0,0) to 0, the others to 1: over the first node of the edge, and over its second.
  const Tensor means = samples.features(fresh.tape, 0, 0);
  CHECK(means.shape == Shape{1, 2, 2, 2});
  test::check_values(means, {0.5, 0.5, 0.5, 0.5, 0, 0, 1, 1}, 0);
  test::check_values(samples.one_hot(fresh.tape, 0, 0), {1, 0, 0, 1, 0, 1, 0, 1}, 0);
  test::check_values(samples.features(fresh.tape, 1, 0), {0, 1}, 0);
  const Tensor q = samples.features(fresh.tape, 2, 0), p = samples.features(fresh.tape, 3, 0);
  test::check_values(q, {0, 1, 1, 0}, 0);
  test::check_values(p, {0, 1, 1, 0}, 0);
  for (std::size_t probe = 0; probe < 4; ++probe) {
    CHECK(choices(spec[probe], 2) == 2);
    CHECK(is_index(spec[probe]) == (probe != 3));
  }
}

}  // namespace
}  // namespace renar::nn_batch_test
