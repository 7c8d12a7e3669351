#include "kernels/mark_largest.h"

#include <algorithm>

#include "core/launch.h"

namespace renar {
namespace {

void on_cpu(std::int64_t rows, std::int64_t cols, const Real* x, Real* y) {
  std::fill_n(y, rows * cols, Real{0});
  for (std::int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    y[std::max_element(x, x + cols) - x] = 1;
  }
}

// A warp a row. Each lane finds the first largest of its columns, then the lanes agree on the first
// among those; of a row with NaN on one of them, lane 0's.
struct MarkRow {
  std::int64_t cols;
  const Real* x;
  Real* y;

  Touched touched(std::int64_t rows) const {
    return Touched().reads(x, rows * cols).writes(y, rows * cols);
  }
  __device__ void operator()(std::int64_t r) const {
    const Real* in = x + r * cols;
    Real largest = in[0];
    std::int64_t at = 0;
    for (std::int64_t c = lane_index(); c < cols; c += kWarp) {
      if (in[c] > largest) largest = in[c], at = c;
    }
    for (int other = kWarp / 2; other > 0; other /= 2) {
      const Real theirs = __shfl_xor_sync(kAllLanes, largest, other);
      const std::int64_t their_at = __shfl_xor_sync(kAllLanes, at, other);
      if (theirs > largest || (theirs == largest && their_at < at)) largest = theirs, at = their_at;
    }
    at = __shfl_sync(kAllLanes, at, 0);
    for (std::int64_t c = lane_index(); c < cols; c += kWarp) {
      y[r * cols + c] = c == at ? Real{1} : Real{0};
    }
  }
};

struct AboveZero {
  const Real* x;
  Real* y;

  Touched touched(std::int64_t count) const { return Touched().reads(x, count).writes(y, count); }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { y[i] = x[i] > 0 ? Real{1} : Real{0}; }
};

}  // namespace

Tensor mark_largest(Tape& tape, Tensor x) {
  const std::int64_t rows = x.rows(), cols = x.cols();
  Tensor y = tape.constant(x.shape);
  if (tape.device() == Device::kCpu) {
    on_cpu(rows, cols, x.data, y.data);
  } else {
    for_each_row(rows, MarkRow{cols, x.data, y.data});
  }
  return y;
}

Tensor above_zero(Tape& tape, Tensor x) {
  Tensor y = tape.constant(x.shape);
  for_each(tape.device(), x.size(), AboveZero{x.data, y.data});
  return y;
}

}  // namespace renar
