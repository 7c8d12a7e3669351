// Teacher forcing: in training some samples go on from the truth instead of from their prediction.
//
// Each sample has a stream of coins of its own, one a step, keyed as nn/noise_key.h says.
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

  /// Whether the step after `step` reads the truth.
  bool toss(std::int64_t step, double probability) {
    constexpr std::int64_t kInBlock = CounterRng::kBlock / 2;  // a coin takes two numbers
    rng_.skip_to(static_cast<std::uint32_t>(step / kInBlock));
    if (step % kInBlock == 1) rng_.uniform();
    return rng_.uniform() < probability;
  }

 private:
  CounterRng rng_;
};

}  // namespace renar
