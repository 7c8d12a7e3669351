// carry: a copy of x that survives its time step, numbers and gradient: the only door between the
// steps of a trajectory.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor carry(Tape& tape, Tensor x);

}  // namespace renar
