#include "kernels/layer_norm.h"

#include <cmath>

#include "core/check.h"

namespace renar {
namespace {

constexpr Real kEpsilon = 1e-5;

struct Row {
  Real mean;
  Real inverse_deviation;
};

Row statistics(const Real* x, std::int64_t h) {
  Real sum = 0, squares = 0;
  for (std::int64_t c = 0; c < h; ++c) sum += x[c];
  const Real mean = sum / static_cast<Real>(h);
  for (std::int64_t c = 0; c < h; ++c) squares += (x[c] - mean) * (x[c] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<Real>(h) + kEpsilon)};
}

}  // namespace

Tensor layer_norm(Tape& tape, Tensor x, Tensor scale, Tensor offset) {
  const std::int64_t h = x.cols();
  RENAR_CHECK(scale.size() == h && offset.size() == h,
              "[layer_norm] scale {} and offset {} for {} channels", scale.shape.text(),
              offset.shape.text(), h);
  Tensor y = tape.output(x.shape, {x, scale, offset});
  Row* rows = tape.array<Row>(x.rows());
  for (std::int64_t r = 0; r < x.rows(); ++r) {
    const Real* in = x.data + r * h;
    rows[r] = statistics(in, h);
    for (std::int64_t c = 0; c < h; ++c) {
      y.data[r * h + c] =
          scale.data[c] * (in[c] - rows[r].mean) * rows[r].inverse_deviation + offset.data[c];
    }
  }
  tape.record(y, [=] {
    for (std::int64_t r = 0; r < x.rows(); ++r) {
      const Real* in = x.data + r * h;
      const Real* dy = y.grad + r * h;
      const auto normal = [&](std::int64_t c) {
        return (in[c] - rows[r].mean) * rows[r].inverse_deviation;
      };
      Real sum = 0, along = 0;  // of d = dy * scale, and of d along the normalised row
      for (std::int64_t c = 0; c < h; ++c) {
        const Real d = dy[c] * scale.data[c];
        sum += d;
        along += d * normal(c);
        if (scale.has_grad()) scale.grad[c] += dy[c] * normal(c);
        if (offset.has_grad()) offset.grad[c] += dy[c];
      }
      if (!x.has_grad()) continue;
      for (std::int64_t c = 0; c < h; ++c) {
        const Real centred = (sum + normal(c) * along) / static_cast<Real>(h);
        x.grad[r * h + c] += (dy[c] * scale.data[c] - centred) * rows[r].inverse_deviation;
      }
    }
  });
  return y;
}

}  // namespace renar
