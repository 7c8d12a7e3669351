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

// A block has a warp's width of columns, so that a warp reads whole lines, and as many warps as
// hide the latency of memory. Warp w sums rows w, w + kRowsAtOnce, ..; the first warp then adds
// what the others found, in their order: the same bits in every run.
constexpr int kRowsAtOnce = 16;

__global__ void sum_columns(std::int64_t rows, std::int64_t cols, const Real* x, Real* sums) {
  Real* partial = shared_memory<Real>();  // (kRowsAtOnce, kWarp)
  const int lane = static_cast<int>(threadIdx.x), w = static_cast<int>(threadIdx.y);
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kWarp + lane;
  Real sum = 0;
  if (c < cols) {
    for (std::int64_t r = w; r < rows; r += kRowsAtOnce) sum += x[r * cols + c];
  }
  partial[w * kWarp + lane] = sum;
  __syncthreads();
  if (w != 0 || c >= cols) return;
  for (int other = 1; other < kRowsAtOnce; ++other) sum += partial[other * kWarp + lane];
  sums[c] += sum;
}

}  // namespace

void add_column_sums(Device device, std::int64_t rows, std::int64_t cols, const Real* x,
                     Real* sums) {
  if (device == Device::kCpu) return on_cpu(rows, cols, x, sums);
  launch({{blocks_for(cols, kWarp)}, {kWarp, kRowsAtOnce}, kRowsAtOnce * kWarp * sizeof(Real)},
         sum_columns, rows, cols, x, sums);
}

}  // namespace renar
