// node_max: y[b] = max over nodes of x[b,n];  x (B,N,H), y (B,H). Equal maxima share the gradient
// evenly.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor node_max(Tape& tape, Tensor x);

}  // namespace renar
