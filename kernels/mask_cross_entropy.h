// mask_cross_entropy: over the elements whose truth is not -1
//
//   sum += scale * sum of max(x, 0) - x truth + log(1 + e^-|x|)
//
// The stable binary cross-entropy of logits x; a truth of -1 is masked out (docs/model.md 1 and 6).
#pragma once

#include <cmath>

#include "core/device_code.h"
#include "kernels/loss_sum.h"

namespace renar {

/// The truth of an element that is masked out.
constexpr Real kMasked = -1;

/// max(x, 0) - x t + log(1 + e^-|x|): -t log sigmoid(x) - (1 - t) log(1 - sigmoid(x)), never
/// overflowing.
RENAR_HOST_DEVICE inline Real mask_cost(Real x, Real t) {
  return (x < 0 ? Real{0} : x) - x * t + std::log1p(std::exp(-std::abs(x)));
}

/// `truth` and `scale` lie where the tape's device is.
void mask_cross_entropy(Tape& tape, Tensor logits, const Real* truth, const Real* scale,
                        const LossSum& sum);

}  // namespace renar
