// What kernels must know of samples whose lengths are rounded (nn/batch.h): at which step one makes
// its output, and until when it is compared. Without it the host would have to launch others for
// every batch. It lies where the tape's device is, sent once a trajectory.
#pragma once

#include <cstdint>

#include "nn/batch.h"

namespace renar {

class StepMarks {
 public:
  StepMarks(Tape& tape, const Samples& samples);

  /// (B) 1 for the samples whose last step it is.
  const std::uint8_t* last(std::int64_t step) const;
  /// (B) 1 for those that have a frame step + 1. Null where lengths are not rounded: those that
  /// Samples::compared counts.
  const std::uint8_t* compared(std::int64_t step) const;

 private:
  std::int64_t size_, steps_;
  const std::uint8_t* marks_ = nullptr;  // (2, steps, B)
};

}  // namespace renar
