// Gumbel noise on the logits of permutation pointers, in training alone (docs/model.md 4): what
// log_sinkhorn makes of noisy logits is a sample of a permutation, and the loss is that of samples.
//
// The numbers are keyed (nn/noise_key.h) by the task, the probe and the element too.
#pragma once

#include "nn/batch.h"
#include "nn/noise_key.h"

namespace renar {

/// Noise (count,N,N) for samples [begin, begin + count) of the shard, of an output at each sample's
/// last step, whatever `step` is.
Tensor gumbel_noise(Tape& tape, std::uint64_t seed, const NoiseKey& key, const Samples& samples,
                    std::size_t probe, std::int64_t step, std::int64_t begin, std::int64_t count);

}  // namespace renar
