// Which random numbers a training step takes, and where parity with the reference fixes them.
//
// All noise of training is counter-based (core/rng.h), keyed by the seed, the update, the sample's
// place in its batch, the time step and what it is for, so that it is the same on any number of
// threads, in any cut into shards, and after a resume.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace renar {

/// What each round hides: [round][probe], numbers (B, elements of the probe) that are 1 where
/// hidden.
using FixedMasks = std::vector<std::vector<std::vector<Real>>>;

struct NoiseKey {
  std::int64_t update = 0;  ///< of the optimiser
  /// (B,N,N) in the batch's order, taken at every step by every permutation pointer in place of
  /// Gumbel noise: parity with the reference. Null: random numbers.
  const Real* fixed = nullptr;
  /// Likewise what is hidden in every step. Null: drawn.
  const FixedMasks* masks = nullptr;
};

}  // namespace renar
