// cross_entropy: sum += scale * sum over rows of -log softmax(x[r])[target[r]];  rows of target -1
// do not count.
//
// logits (rows, C), target (rows) in [0, C) or -1. Serves mask_one, categorical and pointer probes.
// negative_log_likelihood is the same of rows that hold log probabilities already, as permutation
// pointers do:  sum += scale * sum over rows of -x[r][target[r]].
#pragma once

#include "kernels/loss_sum.h"

namespace renar {

/// `target` and `scale` lie where the tape's device is. On the CPU a target that is no class is a
/// renar::Error; on a device the host cannot look, and who sent the targets has.
void cross_entropy(Tape& tape, Tensor logits, const std::int32_t* target, const Real* scale,
                   const LossSum& sum);
void negative_log_likelihood(Tape& tape, Tensor log_probabilities, const std::int32_t* target,
                             const Real* scale, const LossSum& sum);

}  // namespace renar
