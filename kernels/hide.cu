#include "kernels/hide.h"

#include "core/check.h"
#include "core/launch.h"

namespace renar {
namespace {

struct Hide {
  const Real *x, *hidden;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched().reads(x, count).reads(hidden, count).writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { y[i] = x[i] * (1 - hidden[i]); }
};

struct PassToShown {
  const Real *dy, *hidden;
  Real* dx;

  Touched touched(std::int64_t count) const {
    return Touched().reads(dy, count).reads(hidden, count).writes(dx, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { dx[i] += dy[i] * (1 - hidden[i]); }
};

}  // namespace

Tensor hide(Tape& tape, Tensor x, Tensor hidden) {
  RENAR_CHECK(x.size() == hidden.size(), "[hide] {} numbers, {} say what is hidden", x.size(),
              hidden.size());
  Tensor y = tape.output(x.shape, {x});
  for_each(tape.device(), y.size(), Hide{x.data, hidden.data, y.data});
  tape.record(y, [=, device = tape.device()] {
    for_each(device, y.size(), PassToShown{y.grad, hidden.data, x.grad});
  });
  return y;
}

}  // namespace renar
