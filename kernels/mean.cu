#include "kernels/mean.h"

#include "core/check.h"
#include "core/launch.h"
#include "kernels/accumulate.h"
#include "kernels/copy_numbers.h"

namespace renar {
namespace {

struct Scale {
  Real share;
  Real* y;

  Touched touched(std::int64_t count) const { return Touched().writes(y, count); }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { y[i] *= share; }
};

}  // namespace

Tensor mean(Tape& tape, const Tensor* x, int count) {
  RENAR_CHECK(count >= 1, "[mean] of {} tensors", count);
  if (count == 1) return x[0];
  bool wants_grad = false;
  for (int k = 0; k < count; ++k) {
    RENAR_CHECK(x[k].shape == x[0].shape, "[mean] shapes {} and {}", x[0].shape.text(),
                x[k].shape.text());
    wants_grad |= x[k].has_grad();
  }
  const Device device = tape.device();
  Tensor y = tape.output(x[0].shape, wants_grad);
  const Real share = Real{1} / static_cast<Real>(count);
  copy_numbers(device, y.size(), x[0].data, y.data);
  for (int k = 1; k < count; ++k) accumulate(device, y.size(), x[k].data, y.data);
  for_each(device, y.size(), Scale{share, y.data});
  tape.record(y, [=] {
    for (int k = 0; k < count; ++k) {
      if (x[k].has_grad()) accumulate(device, y.size(), y.grad, x[k].grad, share);
    }
  });
  return y;
}

}  // namespace renar
