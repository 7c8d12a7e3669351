#include "kernels/accumulate.h"

#include "core/launch.h"

namespace renar {
namespace {

struct Accumulate {
  const Real* from;
  Real* to;
  Real scale;

  Touched touched(std::int64_t count) const {
    return Touched().reads(from, count).writes(to, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { to[i] += scale * from[i]; }
};

}  // namespace

void accumulate(Device device, std::int64_t count, const Real* from, Real* to, Real scale) {
  for_each(device, count, Accumulate{from, to, scale});
}

}  // namespace renar
