#include "nn/carried_state.h"

#include <algorithm>

#include "core/check.h"

namespace renar {
namespace {

std::int64_t numbers_each(const Tensor& tensor) { return tensor.size() / tensor.dim(0); }

const Batch::Part& part_of(const Samples& samples, std::int64_t k) {
  return samples.batch().parts[static_cast<std::size_t>(samples.index(k))];
}

}  // namespace

void CarriedState::fit(std::int64_t slots, std::int64_t width) {
  const std::size_t size = static_cast<std::size_t>(slots * width);
  RENAR_CHECK(
      now_.empty() || now_.size() == size,
      "[carried_state] {} numbers are carried, expected {} slots of {}: it is of a run with "
      "other options",
      now_.size(), slots, width);
  width_ = width;
  now_.resize(size);
  next_.resize(size);
}

void CarriedState::take_up(Device device, const Samples& samples,
                           const CarriedTensors& tensors) const {
  for (std::int64_t k = 0; k < samples.size(); ++k) {
    const Batch::Part& part = part_of(samples, k);
    if (!part.carried) continue;
    const Real* from = now_.data() + part.slot * width_;
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
    Real* to = next_.data() + part_of(samples, k).slot * width_;
    for (std::size_t i = 0; i < tensors.count; ++i) {
      const std::int64_t each = numbers_each(tensors.tensors[i]);
      copy_to_host(device, to, tensors.tensors[i].data + k * each,
                   static_cast<std::size_t>(each) * sizeof(Real));
      to += each;
    }
  }
}

void CarriedState::turn() {
  now_.swap(next_);
  std::fill(next_.begin(), next_.end(), Real{0});
}

}  // namespace renar
