// layer_norm: y[r] = scale * (x[r] - mean) / sqrt(variance + 1e-5) + offset, over the last axis.
//
// x, y (.., H); scale, offset (H). The variance is the mean of squares (no Bessel correction), as
// in haiku.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor layer_norm(Tape& tape, Tensor x, Tensor scale, Tensor offset);

}  // namespace renar
