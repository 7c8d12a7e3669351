#include "nn/truths.h"

#include <algorithm>

#include "kernels/mask_cross_entropy.h"
#include "kernels/squared_error.h"

namespace renar {

bool truth_is_class(const Probe& probe) {
  switch (probe.type) {
    case Type::kScalar:
    case Type::kMask: return false;
    case Type::kCategorical:
    case Type::kMaskOne:
    case Type::kPointer:
    case Type::kShouldBePermutation:
    case Type::kPermutationPointer: return true;
  }
  return false;
}

Truths::Truths(Tape& tape, const Samples& samples, HintMode hints)
    : tape_(tape), samples_(samples), hints_(hints) {
  if (tape.device() != Device::kCpu) send_all();
}

bool Truths::has(std::size_t p) const {
  switch (samples_.spec()[p].stage) {
    case Stage::kInput: return false;
    case Stage::kHint: return predicts_hints(hints_);
    case Stage::kOutput: return true;
  }
  return false;
}

std::int64_t Truths::each(std::size_t p) const {
  const Probe& probe = samples_.spec()[p];
  const std::int64_t stride = samples_.batch().stride(p);
  return is_index(probe) ? stride : stride / choices(probe, samples_.nodes());
}

void Truths::send_all() {
  const Spec& spec = samples_.spec();
  const auto end_of = [&](std::size_t p) {  // of the frames 1, 2, .. or of frame 0
    return spec[p].stage == Stage::kHint ? samples_.frames() : 1;
  };
  std::int64_t all_numbers = 0, all_classes = 0;
  for (std::size_t p = 0; p < spec.size(); ++p) {
    if (!has(p)) continue;
    std::int64_t& all = truth_is_class(spec[p]) ? all_classes : all_numbers;
    starts_[p] = all;
    all = place(p, end_of(p), 0);
  }
  Real* numbers = tape_.host_array<Real>(all_numbers);
  std::int32_t* classes = tape_.host_array<std::int32_t>(all_classes);
  for (std::size_t p = 0; p < spec.size(); ++p) {
    if (!has(p)) continue;
    const bool hint = spec[p].stage == Stage::kHint;
    for (std::int64_t frame = hint ? 1 : 0; frame < end_of(p); ++frame) {
      const std::int64_t count = hint ? samples_.compared(frame - 1) : samples_.size();
      const std::int64_t at = place(p, frame, 0);
      if (truth_is_class(spec[p])) {
        write(p, frame, 0, count, classes + at);
      } else {
        write(p, frame, 0, count, numbers + at);
      }
    }
  }
  numbers_ = tape_.send(numbers, all_numbers);
  classes_ = tape_.send(classes, all_classes);
}

std::int64_t Truths::place(std::size_t p, std::int64_t frame, std::int64_t sample) const {
  const std::int64_t row = samples_.spec()[p].stage == Stage::kHint ? frame - 1 : frame;
  return starts_[p] + (row * samples_.size() + sample) * each(p);
}

const Real* Truths::numbers(std::size_t p, std::int64_t frame, std::int64_t begin,
                            std::int64_t end) const {
  if (numbers_ != nullptr) return numbers_ + place(p, frame, begin);
  Real* out = tape_.array<Real>((end - begin) * each(p));
  write(p, frame, begin, end, out);
  return out;
}

const std::int32_t* Truths::classes(std::size_t p, std::int64_t frame, std::int64_t begin,
                                    std::int64_t end) const {
  if (classes_ != nullptr) return classes_ + place(p, frame, begin);
  std::int32_t* out = tape_.array<std::int32_t>((end - begin) * each(p));
  write(p, frame, begin, end, out);
  return out;
}

// Whether a sample has no such frame: its rounded length goes on.
bool Truths::is_over(std::size_t p, std::int64_t frame, std::int64_t sample) const {
  return samples_.spec()[p].stage == Stage::kHint && !samples_.has_frame(sample, frame);
}

void Truths::write(std::size_t p, std::int64_t frame, std::int64_t begin, std::int64_t end,
                   Real* numbers) const {
  const Real uncounted = samples_.spec()[p].type == Type::kMask ? kMasked : kUncounted;
  for (std::int64_t k = begin; k < end; ++k) {
    if (is_over(p, frame, k)) {
      numbers = std::fill_n(numbers, each(p), uncounted);
      continue;
    }
    numbers = std::copy_n(samples_.batch().at(p, frame, samples_.index(k)), each(p), numbers);
  }
}

void Truths::write(std::size_t p, std::int64_t frame, std::int64_t begin, std::int64_t end,
                   std::int32_t* classes) const {
  const bool index = is_index(samples_.spec()[p]);
  const std::int64_t rows = each(p), range = samples_.batch().stride(p) / rows;
  for (std::int64_t k = begin; k < end; ++k) {
    if (is_over(p, frame, k)) {
      classes = std::fill_n(classes, rows, -1);
      continue;
    }
    const Real* truth = samples_.batch().at(p, frame, samples_.index(k));
    for (std::int64_t r = 0; r < rows; ++r) {
      *classes++ =
          index ? static_cast<std::int32_t>(truth[r]) : marked_class(truth + r * range, range);
    }
  }
}

}  // namespace renar
