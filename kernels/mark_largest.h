// mark_largest: y[r] is 1 at the first largest of x[r], else 0, over the last axis.
// above_zero: y = x > 0 ? 1 : 0, element by element.
//
// What a prediction is where it has to be a decision (docs/model.md 5, hard): nothing has a
// gradient.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor mark_largest(Tape& tape, Tensor x);
Tensor above_zero(Tape& tape, Tensor x);

}  // namespace renar
