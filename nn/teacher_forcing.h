// Teacher forcing: in training some samples go on from the truth instead of from their prediction.
//
// Each sample has a stream of coins of its own, one toss a step, keyed as nn/noise_key.h says.
#pragma once

#include "core/rng.h"
#include "nn/noise_key.h"

namespace renar {

class ForcingCoins {
 public:
  /// `sample` is its place in the batch.
  ForcingCoins(std::uint64_t seed, const NoiseKey& key, std::int64_t sample)
      : rng_(seed, Purpose::kTeacherForcing, static_cast<std::uint32_t>(key.update),
             static_cast<std::uint32_t>(sample)) {}

  /// Whether the next step reads the truth.
  bool toss(double probability) { return rng_.uniform() < probability; }

 private:
  CounterRng rng_;
};

/// A probability that is neither never nor always.
constexpr bool tosses_coins(double probability) { return probability > 0 && probability < 1; }

}  // namespace renar
