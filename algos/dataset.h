// Fixed sets of samples, made from a seed in milliseconds: the three splits of CLRS-30, bit for
// bit, and sets of any other size, seed and number.
#pragma once

#include <cstdint>
#include <string_view>

#include "algos/registry.h"
#include "algos/trace_batch.h"
#include "core/numpy_random.h"

namespace renar {

enum class Split { kTrain, kVal, kTest };

/// What CLRS-30 says of a split; validation and test have `samples` times the algorithm's
/// multiplier.
struct SplitSettings {
  std::string_view name;
  int samples;
  int length;
  std::uint32_t seed;
};
const SplitSettings& clrs30(Split split);

/// The split of that name: train, val or test. Throws renar::UsageError for any other.
Split split_of(std::string_view name);

/// The number of samples that the split has for this algorithm.
int samples_in(const Algorithm& algorithm, Split split);

/// The next samples of a generator, one after another, as one batch. Throws renar::Error for
/// samples < 1 and for a length that the sampler cannot serve.
TraceBatch sample_batch(const Algorithm& algorithm, NumpyRandom& random, int length, int samples,
                        const SamplerParams& params);

/// The first samples of a new generator. Throws as sample_batch.
TraceBatch make_dataset(const Algorithm& algorithm, int length, int samples, std::uint32_t seed,
                        const SamplerParams& params);

/// A whole split of CLRS-30.
TraceBatch make_clrs30(const Algorithm& algorithm, Split split);

}  // namespace renar
