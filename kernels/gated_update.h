// gated_update: y = fresh * gate + old * (1 - gate), gate = sigmoid(logit), element by element.
//
// All of one shape. The gate of Triplet-GMPNN (Ibarz et al. 2022; docs/model.md 3).
#pragma once

#include "core/tape.h"

namespace renar {

Tensor gated_update(Tape& tape, Tensor logit, Tensor fresh, Tensor old);

/// The definition's second half, for a gate already in [0, 1].
Tensor mix(Tape& tape, Tensor gate, Tensor fresh, Tensor old);

}  // namespace renar
