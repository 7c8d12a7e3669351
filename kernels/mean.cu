#include "kernels/mean.h"

#include <algorithm>

#include "core/check.h"

namespace renar {

Tensor mean(Tape& tape, const Tensor* x, int count) {
  RENAR_CHECK(count >= 1, "[mean] of {} tensors", count);
  if (count == 1) return x[0];
  bool wants_grad = false;
  for (int k = 0; k < count; ++k) {
    RENAR_CHECK(x[k].shape == x[0].shape, "[mean] shapes {} and {}", x[0].shape.text(),
                x[k].shape.text());
    wants_grad |= x[k].has_grad();
  }
  Tensor y = tape.output(x[0].shape, wants_grad);
  const Real share = Real{1} / static_cast<Real>(count);
  std::copy_n(x[0].data, y.size(), y.data);
  for (int k = 1; k < count; ++k) {
    for (std::int64_t i = 0; i < y.size(); ++i) y.data[i] += x[k].data[i];
  }
  for (std::int64_t i = 0; i < y.size(); ++i) y.data[i] *= share;
  tape.record(y, [=] {
    for (int k = 0; k < count; ++k) {
      if (!x[k].has_grad()) continue;
      for (std::int64_t i = 0; i < y.size(); ++i) x[k].grad[i] += share * y.grad[i];
    }
  });
  return y;
}

}  // namespace renar
