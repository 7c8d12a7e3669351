// squared_error: sum += scale * sum of (pred - truth)^2, over truth != kUncounted.  pred (rows,
// cols), truth of the same size.
//
// A loss is where gradients start: backward adds scale * 2 (pred - truth), and reads `scale` then.
// It holds the loss's denominator, which belongs to the whole batch (nn/loss.h), so shards simply
// add up.
#pragma once

#include <limits>

#include "kernels/loss_sum.h"

namespace renar {

/// The truth of an element that does not count: a number that no truth is. (Not NaN: a truth that
/// has gone wrong should make a loss that has.)
constexpr Real kUncounted = std::numeric_limits<Real>::lowest();

/// `truth` and `scale` lie where the tape's device is.
void squared_error(Tape& tape, Tensor pred, const Real* truth, const Real* scale,
                   const LossSum& sum);

}  // namespace renar
