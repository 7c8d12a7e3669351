#include "kernels/gemm.h"

namespace renar {

void gemm_definition(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b, Real* c,
                     const GemmOptions& options) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Real sum = options.accumulate ? c[i * n + j] : Real{0};
      for (std::int64_t l = 0; l < k; ++l) {
        sum += a.data[i * a.row + l * a.col] * b.data[l * b.row + j * b.col];
      }
      if (options.bias != nullptr) sum += options.bias[j];
      if (options.relu && !(sum > 0)) sum = 0;
      c[i * n + j] = sum;
    }
  }
}

}  // namespace renar
