// mean: y = (x_1 + .. + x_m) / m, element by element over tensors of one shape: the rounds of
// M-ReNAR put together (paper, section 4.2).
#pragma once

#include "core/tape.h"

namespace renar {

/// `x` has `count` tensors, at least one, and lives on the host as long as the tape's trajectory
/// (Tape::host_array). A single one is its own mean. Throws renar::Error where the shapes differ.
Tensor mean(Tape& tape, const Tensor* x, int count);

}  // namespace renar
