// mask_cross_entropy: sum += scale * sum of max(x, 0) - x truth + log(1 + e^-|x|), over truth !=
// -1.
//
// The stable binary cross-entropy of logits x; a truth of -1 is masked out (MODEL.md 1 and 6).
#pragma once

#include "core/tape.h"

namespace renar {

/// The truth of an element that is masked out.
constexpr Real kMasked = -1;

void mask_cross_entropy(Tape& tape, Tensor logits, const Real* truth, Real scale, double& sum);

}  // namespace renar
