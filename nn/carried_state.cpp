#include "nn/carried_state.h"

#include <algorithm>
#include <utility>

#include "core/check.h"

namespace renar {
namespace {

std::int64_t numbers_each(const Tensor& tensor) { return tensor.size() / tensor.dim(0); }

const Batch::Part& part_of(const Samples& samples, std::int64_t k) {
  return samples.batch().parts[static_cast<std::size_t>(samples.index(k))];
}

}  // namespace

CarriedState::CarriedState(const std::vector<Real>& values, Device device)
    : memory_(device, Arena::Memory::kToSend) {
  if (values.empty()) return;
  make_room(std::ssize(values));
  std::copy(values.begin(), values.end(), now_);
}

void CarriedState::make_room(std::int64_t size) {
  size_ = size;
  now_ = memory_.array<Real>(size);
  next_ = memory_.array<Real>(size);
  std::fill_n(now_, size, Real{0});
  std::fill_n(next_, size, Real{0});
}

void CarriedState::fit(std::int64_t slots, std::int64_t width) {
  RENAR_CHECK(
      size_ == 0 || size_ == slots * width,
      "[carried_state] {} numbers are carried, expected {} slots of {}: it is of a run with "
      "other options",
      size_, slots, width);
  width_ = width;
  if (size_ == 0) make_room(slots * width);
}

void CarriedState::take_up(Device device, const Samples& samples,
                           const CarriedTensors& tensors) const {
  for (std::int64_t k = 0; k < samples.size(); ++k) {
    const Batch::Part& part = part_of(samples, k);
    if (!part.carried) continue;
    const Real* from = now_ + part.slot * width_;
    for (std::size_t i = 0; i < tensors.count; ++i) {
      const std::int64_t each = numbers_each(tensors.tensors[i]);
      send_to_device(device, tensors.tensors[i].data + k * each, from,
                     static_cast<std::size_t>(each) * sizeof(Real));
      from += each;
    }
  }
}

void CarriedState::put_down(Device device, const Samples& samples, std::int64_t begin,
                            std::int64_t end, const CarriedTensors& tensors) {
  for (std::int64_t k = begin; k < end; ++k) {
    Real* to = next_ + part_of(samples, k).slot * width_;
    for (std::size_t i = 0; i < tensors.count; ++i) {
      const std::int64_t each = numbers_each(tensors.tensors[i]);
      copy_on_device(device, to, tensors.tensors[i].data + k * each,
                     static_cast<std::size_t>(each) * sizeof(Real));
      to += each;
    }
  }
}

void CarriedState::turn() {
  std::swap(now_, next_);
  std::fill_n(next_, size_, Real{0});
}

}  // namespace renar
