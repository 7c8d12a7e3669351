#include "kernels/column_sums.h"

#include "core/launch.h"
#include "core/simd.h"

namespace renar {
namespace {

RENAR_CLONES void on_cpu(std::int64_t rows, std::int64_t cols, const Real* x, Real* sums) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) sums[c] += x[r * cols + c];
  }
}

__global__ void sum_columns(std::int64_t rows, std::int64_t cols, const Real* x, Real* sums) {
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x;
  Real sum = 0;
  if (c < cols) {
    for (std::int64_t r = threadIdx.y; r < rows; r += kRowsAtOnce) sum += x[r * cols + c];
  }
  sum = column_sum(sum);
  if (threadIdx.y == 0 && c < cols) sums[c] += sum;
}

}  // namespace

void add_column_sums(Device device, std::int64_t rows, std::int64_t cols, const Real* x,
                     Real* sums) {
  if (device == Device::kCpu) return on_cpu(rows, cols, x, sums);
  launch(column_blocks({blocks_for(cols, kWarp)}), sum_columns, rows, cols, x, sums);
}

}  // namespace renar
