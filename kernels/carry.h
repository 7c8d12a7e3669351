// carry: a copy of x that survives its time step, numbers and gradient, or x itself where it does:
// the only door between the steps of a trajectory.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor carry(Tape& tape, Tensor x);

}  // namespace renar
