// squared_error: sum += scale * sum of (pred - truth)^2.  pred (rows, cols), truth of the same
// size.
//
// A loss is where gradients start: backward adds scale * 2 (pred - truth), and reads `scale` then.
// It holds the loss's denominator, which belongs to the whole batch (nn/loss.h), so shards simply
// add up.
#pragma once

#include "kernels/loss_sum.h"

namespace renar {

/// `truth` and `scale` lie where the tape's device is.
void squared_error(Tape& tape, Tensor pred, const Real* truth, const Real* scale,
                   const LossSum& sum);

}  // namespace renar
