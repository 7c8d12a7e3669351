// Gumbel noise on the logits of permutation pointers, in training alone (MODEL.md 4): what
// log_sinkhorn makes of noisy logits is a sample of a permutation, and the loss is that of samples.
//
// The numbers are counter-based (core/rng.h), keyed by the seed, the update, the task, the sample's
// place in the batch, the time step, the probe and the element: the same on any number of threads,
// in any cut into shards, and after a resume.
#pragma once

#include "nn/batch.h"

namespace renar {

/// Which noise a training step takes.
struct NoiseKey {
  std::int64_t update = 0;  ///< of the optimiser
  /// (B,N,N) in the batch's order, taken at every step by every probe in place of random numbers:
  /// parity with the reference. Null: random numbers.
  const Real* fixed = nullptr;
};

/// Noise (count,N,N) for samples [begin, begin + count) of the shard.
Tensor gumbel_noise(Tape& tape, std::uint64_t seed, const NoiseKey& key, const Samples& samples,
                    std::size_t probe, std::int64_t step, std::int64_t begin, std::int64_t count);

}  // namespace renar
