// choose_samples: y[b] = forced[b] ? truth[b] : x[b]                          (B,..)
//
// Teacher forcing: some samples go on from the truth, which is data, the others from what was
// predicted. Only they pass gradient on.
#pragma once

#include <cstdint>

#include "core/tape.h"

namespace renar {

/// `forced` has B entries, lies where the tape's device is and lives as long as its trajectory.
/// Throws renar::Error where the shapes differ.
Tensor choose_samples(Tape& tape, Tensor x, Tensor truth, const std::uint8_t* forced);

}  // namespace renar
