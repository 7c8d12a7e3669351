#include "nn/step_marks.h"

namespace renar {

StepMarks::StepMarks(Tape& tape, const Samples& samples)
    : size_(samples.size()), steps_(samples.steps()) {
  if (!samples.rounded()) return;
  std::uint8_t* last = tape.host_array<std::uint8_t>(2 * steps_ * size_);
  std::uint8_t* compared = last + steps_ * size_;
  for (std::int64_t step = 0; step < steps_; ++step) {
    for (std::int64_t k = 0; k < size_; ++k) {
      last[step * size_ + k] = step == samples.last_step(k) ? 1 : 0;
      compared[step * size_ + k] = samples.has_frame(k, step + 1) ? 1 : 0;
    }
  }
  marks_ = tape.send<std::uint8_t>(last, 2 * steps_ * size_);
}

const std::uint8_t* StepMarks::last(std::int64_t step) const { return marks_ + step * size_; }

const std::uint8_t* StepMarks::compared(std::int64_t step) const {
  return marks_ == nullptr ? nullptr : marks_ + (steps_ + step) * size_;
}

}  // namespace renar
