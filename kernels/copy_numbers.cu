#include "kernels/copy_numbers.h"

#include "core/launch.h"

namespace renar {
namespace {

struct CopyNumbers {
  const Real* from;
  Real* to;

  Touched touched(std::int64_t count) const {
    return Touched().reads(from, count).writes(to, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { to[i] = from[i]; }
};

}  // namespace

void copy_numbers(Device device, std::int64_t count, const Real* from, Real* to) {
  if (device != Device::kCpu) return for_each_on_device(count, CopyNumbers{from, to});
  queue_copy(device, to, from, static_cast<std::size_t>(count) * sizeof(Real));
}

}  // namespace renar
