#include "nn/carried_state.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "kernels/slot_rows.h"

namespace renar {
namespace {

/// Numbers of a slot.
std::int64_t width_of(const std::vector<std::int64_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
}

const Batch::Part& part_of(const Samples& samples, std::int64_t k) {
  return samples.batch().parts[static_cast<std::size_t>(samples.index(k))];
}

/// Calls f(x, rows, offset) for each tensor x: what its kernels are told, and where its numbers
/// begin in a state.
template <class F>
void for_each_tensor(const CarriedTensors& tensors, SlotRows rows, const F& f) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < tensors.count; ++i) {
    rows.each = tensors.tensors[i].size() / tensors.tensors[i].dim(0);
    f(tensors.tensors[i], rows, offset);
    offset += rows.slots * rows.each;
  }
}

/// Calls f(at, of) for each number: its place tensor by tensor, and in a checkpoint.
template <class F>
void for_each_number(std::int64_t slots, const std::vector<std::int64_t>& widths, const F& f) {
  const std::int64_t width = width_of(widths);
  std::size_t at = 0;
  std::int64_t before = 0;
  for (const std::int64_t each : widths) {
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      for (std::int64_t i = 0; i < each; ++i) {
        f(at++, static_cast<std::size_t>(slot * width + before + i));
      }
    }
    before += each;
  }
}

}  // namespace

CarriedState::CarriedState(std::vector<Real> values, Device device)
    : device_(device),
      start_(std::move(values)),
      states_{DeviceBuffer<Real>(device), DeviceBuffer<Real>(device)} {}

std::int64_t CarriedState::size() const { return slots_ * width_of(widths_); }

void CarriedState::fit(std::int64_t slots, const std::vector<std::int64_t>& widths) {
  const std::int64_t width = width_of(widths);
  const bool has_room = !widths_.empty();
  const std::int64_t held = has_room ? size() : std::ssize(start_);
  const bool fits =
      has_room ? slots == slots_ && widths == widths_ : start_.empty() || held == slots * width;
  RENAR_CHECK(fits,
              "[carried_state] {} numbers are carried, expected {} slots of {}: it is of a run "
              "with other options",
              held, slots, width);
  if (has_room) return;
  slots_ = slots;
  widths_ = widths;
  for (DeviceBuffer<Real>& state : states_) state.zeros(size());
  if (start_.empty()) return;
  std::vector<Real> by_tensor(start_.size());
  for_each_number(slots_, widths_,
                  [&](std::size_t at, std::size_t of) { by_tensor[at] = start_[of]; });
  states_[now_].upload(by_tensor.data(), size());
  start_ = {};
}

void CarriedState::take_up(Tape& tape, const Samples& samples,
                           const CarriedTensors& tensors) const {
  RENAR_CHECK(tape.device() == device_, "[carried_state] a state on {} for chunks on {}",
              name_of(device_), name_of(tape.device()));
  std::int32_t* slot = tape.host_array<std::int32_t>(samples.size());
  for (std::int64_t k = 0; k < samples.size(); ++k) {
    const Batch::Part& part = part_of(samples, k);
    slot[k] = part.carried ? static_cast<std::int32_t>(part.slot) : kNoSlot;
  }
  const SlotRows rows{samples.size(), tape.send(slot, samples.size()), slots_, 0};
  for_each_tensor(tensors, rows, [&](const Tensor& x, const SlotRows& of, std::int64_t offset) {
    take_up_rows(device_, of, states_[now_].data() + offset, x.data);
  });
}

void CarriedState::put_down(Tape& tape, const Samples& samples, std::int64_t begin,
                            std::int64_t end, const CarriedTensors& tensors) {
  const std::int64_t count = end - begin;
  std::int32_t* slot = tape.host_array<std::int32_t>(count);
  for (std::int64_t k = begin; k < end; ++k) {
    slot[k - begin] = static_cast<std::int32_t>(part_of(samples, k).slot);
  }
  const SlotRows rows{count, tape.send(slot, count), slots_, 0};
  for_each_tensor(tensors, rows, [&](const Tensor& x, const SlotRows& of, std::int64_t offset) {
    put_down_rows(device_, of, x.data + begin * of.each, next().data() + offset);
  });
}

void CarriedState::turn() {
  now_ = 1 - now_;
  next().zeros(size());
}

std::vector<Real> CarriedState::values() const {
  if (widths_.empty()) return start_;
  std::vector<Real> by_tensor(static_cast<std::size_t>(size())), found(by_tensor.size());
  states_[now_].download(by_tensor.data(), size());
  for_each_number(slots_, widths_,
                  [&](std::size_t at, std::size_t of) { found[of] = by_tensor[at]; });
  return found;
}

}  // namespace renar
