// The noise in training: its key, its independence of shards, and fixed noise in its place.
#include "nn/gumbel_noise.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::gumbel_noise_test {
namespace {

using Values = std::vector<Real>;

const Spec kSpec = {{"x", Stage::kInput, Location::kNode, Type::kScalar},
                    {"p", Stage::kOutput, Location::kNode, Type::kPermutationPointer},
                    {"p_mask", Stage::kOutput, Location::kNode, Type::kMaskOne},
                    {"p_h", Stage::kHint, Location::kNode, Type::kPermutationPointer}};

/// The noise of samples [begin, begin + count) of a shard.
Values noise_of(const Samples& samples, const NoiseKey& key, std::int64_t begin, std::int64_t count,
                std::uint64_t seed = 1, std::size_t probe = 1, std::int64_t step = 2) {
  test::FreshTape fresh;
  const Tensor noise = gumbel_noise(fresh.tape, seed, key, samples, probe, step, begin, count);
  CHECK(noise.shape == Shape{count, samples.nodes(), samples.nodes()});
  CHECK(!noise.has_grad());
  return {noise.data, noise.data + noise.size()};
}

TEST_CASE("gumbel_noise: every part of the key counts, and no number comes twice") {
  Batch batch = test::random_batch(kSpec, 4, {3, 5});
  const Samples samples(batch, {0, 2});
  const Values first = noise_of(samples, {.update = 7}, 0, 2);
  CHECK(noise_of(samples, {.update = 7}, 0, 2) == first);
  std::set<Real> seen(first.begin(), first.end());
  std::size_t drawn = first.size();
  const auto add = [&](const Values& values) {
    seen.insert(values.begin(), values.end());
    drawn += values.size();
    CHECK(seen.size() == drawn);
  };
  add(noise_of(samples, {.update = 8}, 0, 2));
  add(noise_of(samples, {.update = 7}, 0, 2, 2));
  add(noise_of(samples, {.update = 7}, 0, 2, 1, 2));
  add(noise_of(samples, {.update = 7}, 0, 2, 1, 3, 2));
  add(noise_of(samples, {.update = 7}, 0, 2, 1, 3, 1));
  batch.task = 1;
  add(noise_of(samples, {.update = 7}, 0, 2));
}

TEST_CASE("gumbel_noise: an output's is that of each sample's last step, a hint's of the step") {
  const Batch batch = test::random_batch(kSpec, 2, {3, 5, 1});  // 2, 4 and 1 steps
  const Samples samples(batch, {0, 3});                         // the longest first
  constexpr std::size_t kOutput = 1, kHint = 3;
  const Values of_output = noise_of(samples, {}, 0, 3, 1, kOutput, 0);
  CHECK(noise_of(samples, {}, 0, 3, 1, kOutput, 2) == of_output);
  Batch longer = batch;
  longer.lengths = {3, 6, 2};  // one step more, as many, as many
  longer.cut();
  const Values of_longer = noise_of(Samples(longer, {0, 3}), {}, 0, 3, 1, kOutput, 0);
  for (std::size_t i = 0; i < of_output.size(); ++i) {
    CHECK((of_longer[i] == of_output[i]) == (i >= 4));
  }
  const Values of_hint = noise_of(samples, {}, 0, 3, 1, kHint, 0);
  CHECK(noise_of(samples, {}, 0, 3, 1, kHint, 2) != of_hint);
  CHECK(noise_of(Samples(longer, {0, 3}), {}, 0, 3, 1, kHint, 0) == of_hint);
}

TEST_CASE("gumbel_noise: belongs to the sample's place in the batch, not to its shard") {
  const Batch batch = test::random_batch(kSpec, 4, {3, 5, 4});
  const Samples all(batch, {0, 3}), last(batch, {1, 3});
  const Values whole = noise_of(all, {}, 0, 3), part = noise_of(last, {}, 0, 2);
  CHECK(Values(whole.begin() + 16, whole.end()) == part);
  CHECK(noise_of(all, {}, 2, 1) == Values(part.begin() + 16, part.end()));
}

TEST_CASE("gumbel_noise: fixed noise is read in the batch's order, at every step") {
  const Batch batch = test::random_batch(kSpec, 2, {3, 5});
  const Samples samples(batch, {0, 2});  // the second sample is longer and comes first
  const Values fixed = {1, 2, 3, 4, 5, 6, 7, 8};
  for (const std::int64_t step : {0, 3}) {
    CHECK(noise_of(samples, {.fixed = fixed.data()}, 0, 2, 1, 1, step) ==
          Values{5, 6, 7, 8, 1, 2, 3, 4});
  }
}

}  // namespace
}  // namespace renar::gumbel_noise_test
