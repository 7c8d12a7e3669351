// What a shard's predictions are compared with, where the tape's device is: the numbers of scalars
// and masks, and of choices the classes that are marked.
//
// A hint has truths in frames 1 .. T - 1 for the samples that reach them, an output in frame 0.
// Samples whose rounded lengths go on have truths that no loss counts (nn/batch.h). The
// CPU's are made when they are asked for. To a device all of a trajectory's go at its start, in one
// copy of numbers and one of classes: a copy for each probe and time step would cost the host more
// time than the losses cost the device.
#pragma once

#include <array>

#include "nn/batch.h"
#include "nn/encoder.h"

namespace renar {

/// Whether a probe's truth is a class of each row, and not the numbers as they are written.
bool truth_is_class(const Probe& probe);

class Truths {
 public:
  /// Of outputs and, where they are predicted, of hints. `samples` must outlive it.
  Truths(Tape& tape, const Samples& samples, HintMode hints);

  bool has(std::size_t probe) const;
  /// How many numbers or classes a sample has in a frame.
  std::int64_t each(std::size_t probe) const;
  /// The truth of samples [begin, end) in a frame as it is written, and as classes (-1: none is
  /// marked).
  const Real* numbers(std::size_t probe, std::int64_t frame, std::int64_t begin,
                      std::int64_t end) const;
  const std::int32_t* classes(std::size_t probe, std::int64_t frame, std::int64_t begin,
                              std::int64_t end) const;

 private:
  void send_all();
  std::int64_t place(std::size_t probe, std::int64_t frame, std::int64_t sample) const;
  bool is_over(std::size_t probe, std::int64_t frame, std::int64_t sample) const;
  void write(std::size_t probe, std::int64_t frame, std::int64_t begin, std::int64_t end,
             Real* numbers) const;
  void write(std::size_t probe, std::int64_t frame, std::int64_t begin, std::int64_t end,
             std::int32_t* classes) const;

  Tape& tape_;
  const Samples& samples_;
  HintMode hints_;
  // On a device, for each probe (frames, B, each), which start at its place among the numbers or
  // the classes.
  std::array<std::int64_t, kMaxProbes> starts_{};
  const Real* numbers_ = nullptr;
  const std::int32_t* classes_ = nullptr;
};

}  // namespace renar
