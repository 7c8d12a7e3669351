// softmax: y[r] = exp(x[r]) / sum exp(x[r]), over the last axis; x, y (.., C).
#pragma once

#include <cmath>

#include "core/launch.h"
#include "core/tape.h"

namespace renar {

Tensor softmax(Tape& tape, Tensor x);

/// A row's softmax: p[c] = exp(x[c] - largest) / sum, log p[c] = (x[c] - largest) - log sum. Two
/// numbers, because their combination would lose the sum where x is large; and p by division,
/// because an error of log sum would be common to the whole row, whose gradients should cancel.
struct SoftmaxRow {
  Real largest;
  Real sum;  ///< of exp(x[c] - largest)

  RENAR_HOST_DEVICE Real probability(Real x) const { return std::exp(x - largest) / sum; }
  RENAR_HOST_DEVICE Real log_probability(Real x) const { return (x - largest) - std::log(sum); }
};
SoftmaxRow softmax_row(const Real* x, std::int64_t count);

/// The same by the whole of a warp.
__device__ inline SoftmaxRow warp_softmax_row(const Real* x, std::int64_t count) {
  Real largest = x[0], sum = 0;
  for (std::int64_t c = lane_index(); c < count; c += kWarp) {
    largest = x[c] > largest ? x[c] : largest;
  }
  largest = warp_max(largest);
  for (std::int64_t c = lane_index(); c < count; c += kWarp) sum += std::exp(x[c] - largest);
  return {largest, warp_sum(sum)};
}

}  // namespace renar
