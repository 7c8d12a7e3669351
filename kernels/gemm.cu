#include "kernels/gemm.h"

#include <atomic>

namespace renar {
namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> flops{0};

}  // namespace

void count_flops(bool on) {
  flops = 0;
  counting = on;
}

void add_flops(std::int64_t count) {
  if (counting.load(std::memory_order_relaxed)) flops.fetch_add(count, std::memory_order_relaxed);
}

std::int64_t counted_flops() { return flops; }

void gemm_definition(std::int64_t m, std::int64_t n, const GemmTerm* terms, int count, Real* c,
                     const GemmOptions& options) {
  const std::int64_t nodes = options.nodes;
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t sender = i / nodes, receiver = sender / nodes * nodes + i % nodes;
    for (std::int64_t j = 0; j < n; ++j) {
      Real sum = options.accumulate ? c[i * n + j] : Real{0};
      if (options.send != nullptr) sum += options.send[sender * n + j];
      if (options.recv != nullptr) sum += options.recv[receiver * n + j];
      for (int t = 0; t < count; ++t) {
        const auto& [k, a, b, panels] = terms[t];
        for (std::int64_t l = 0; l < k; ++l) {
          sum += a.data[i * a.row + l * a.col] * b.data[l * b.row + j * b.col];
        }
      }
      if (options.bias != nullptr) sum += options.bias[j];
      if (options.relu && !(sum > 0)) sum = 0;
      c[i * n + j] = sum;
    }
  }
}

}  // namespace renar
