#include "kernels/softmax.h"

#include <algorithm>

#include "core/launch.h"

namespace renar {
namespace {

void forward_on_cpu(const Tensor& x, const Tensor& y) {
  const std::int64_t cols = x.cols();
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
}

void backward_on_cpu(const Tensor& x, const Tensor& y) {
  const std::int64_t cols = x.cols();
  for (std::int64_t r = 0; r < x.rows(); ++r) {
    const Real *p = y.data + r * cols, *dy = y.grad + r * cols;
    Real along = 0;
    for (std::int64_t c = 0; c < cols; ++c) along += p[c] * dy[c];
    for (std::int64_t c = 0; c < cols; ++c) x.grad[r * cols + c] += p[c] * (dy[c] - along);
  }
}

struct Softmax {
  std::int64_t cols;
  const Real* x;
  Real* y;

  Touched touched(std::int64_t rows) const {
    return Touched().reads(x, rows * cols).writes(y, rows * cols);
  }
  __device__ void operator()(std::int64_t r) const {
    const Real* in = x + r * cols;
    const SoftmaxRow row = warp_softmax_row(in, cols);
    for (std::int64_t c = lane_index(); c < cols; c += kWarp) {
      y[r * cols + c] = row.probability(in[c]);
    }
  }
};

struct SoftmaxBackward {
  std::int64_t cols;
  const Real *y, *dy;
  Real* dx;

  Touched touched(std::int64_t rows) const {
    const std::int64_t size = rows * cols;
    return Touched().reads(y, size).reads(dy, size).writes(dx, size);
  }
  __device__ void operator()(std::int64_t r) const {
    const Real *p = y + r * cols, *d = dy + r * cols;
    Real along = 0;
    for (std::int64_t c = lane_index(); c < cols; c += kWarp) along += p[c] * d[c];
    along = warp_sum(along);
    for (std::int64_t c = lane_index(); c < cols; c += kWarp) {
      dx[r * cols + c] += p[c] * (d[c] - along);
    }
  }
};

}  // namespace

SoftmaxRow softmax_row(const Real* x, std::int64_t count) {
  const Real largest = *std::max_element(x, x + count);
  Real sum = 0;
  for (std::int64_t c = 0; c < count; ++c) sum += std::exp(x[c] - largest);
  return {largest, sum};
}

Tensor softmax(Tape& tape, Tensor x) {
  const std::int64_t rows = x.rows(), cols = x.cols();
  Tensor y = tape.output(x.shape, {x});
  const bool on_cpu = tape.device() == Device::kCpu;
  if (on_cpu) {
    forward_on_cpu(x, y);
  } else {
    for_each_row(rows, Softmax{cols, x.data, y.data});
  }
  tape.record(y, [=] {
    if (on_cpu) return backward_on_cpu(x, y);
    for_each_row(rows, SoftmaxBackward{cols, y.data, y.grad, x.grad});
  });
  return y;
}

}  // namespace renar
