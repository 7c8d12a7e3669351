#include "kernels/softmax.h"

#include <algorithm>
#include <cmath>

namespace renar {

Real SoftmaxRow::probability(Real x) const { return std::exp(x - largest) / sum; }

Real SoftmaxRow::log_probability(Real x) const { return (x - largest) - std::log(sum); }

SoftmaxRow softmax_row(const Real* x, std::int64_t count) {
  const Real largest = *std::max_element(x, x + count);
  Real sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(x[c] - largest);
  return {largest, sum};
}

Tensor softmax(Tape& tape, Tensor x) {
  const std::int64_t cols = x.cols();
  Tensor y = tape.output(x.shape, {x});
  for (std::int64_t r = 0; r < x.rows(); ++r) {
    // As softmax_row says it, with each exponential taken once.
    const Real *in = x.data + r * cols, largest = *std::max_element(in, in + cols);
    Real *out = y.data + r * cols, sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) {
      out[c] = std::exp(in[c] - largest);
      sum += out[c];
    }
    for (std::int64_t c = 0; c < cols; ++c) out[c] /= sum;
  }
  tape.record(y, [=] {
    for (std::int64_t r = 0; r < x.rows(); ++r) {
      const Real *p = y.data + r * cols, *dy = y.grad + r * cols;
      Real along = 0;
      for (std::int64_t c = 0; c < cols; ++c) along += p[c] * dy[c];
      for (std::int64_t c = 0; c < cols; ++c) x.grad[r * cols + c] += p[c] * (dy[c] - along);
    }
  });
  return y;
}

}  // namespace renar
