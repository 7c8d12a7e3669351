#include "kernels/edge_pointer_means.h"

#include <algorithm>
#include <vector>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"

namespace renar {
namespace {

// Sums over i (at j,k) and over j (at i,k), each (N,N) by itself: rows of k stay contiguous.
RENAR_CLONES void add_sums(std::int64_t n, const Real* p, Real* __restrict over_i,
                           Real* __restrict over_j) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j, p += n) {
      for (std::int64_t k = 0; k < n; ++k) over_i[j * n + k] += p[k];
      for (std::int64_t k = 0; k < n; ++k) over_j[i * n + k] += p[k];
    }
  }
}

// dp[i,j] += over_i[j] + over_j[i]
RENAR_CLONES void spread(std::int64_t n, const Real* over_i, const Real* over_j,
                         Real* __restrict dp) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j, dp += n) {
      for (std::int64_t k = 0; k < n; ++k) dp[k] += over_i[j * n + k] + over_j[i * n + k];
    }
  }
}

/// The two halves of a (N,N,2), each by itself.
std::vector<Real>& halves(std::int64_t n) {
  static thread_local std::vector<Real> scratch;
  scratch.resize(static_cast<std::size_t>(2 * n * n));
  return scratch;
}

void forward_on_cpu(const Tensor& p, const Tensor& y) {
  const std::int64_t batch = p.dim(0), n = p.dim(1), each = n * n;
  const Real count = static_cast<Real>(n);
  for (std::int64_t b = 0; b < batch; ++b) {
    Real *sums = halves(n).data(), *means = y.data + b * 2 * each;
    std::fill_n(sums, 2 * each, Real{0});
    add_sums(n, p.data + b * n * each, sums, sums + each);
    for (std::int64_t e = 0; e < 2 * each; ++e) means[e] = sums[e % 2 * each + e / 2] / count;
  }
}

void backward_on_cpu(const Tensor& p, const Tensor& y) {
  const std::int64_t batch = p.dim(0), n = p.dim(1), each = n * n;
  const Real count = static_cast<Real>(n);
  for (std::int64_t b = 0; b < batch; ++b) {
    Real* each_half = halves(n).data();
    const Real* dy = y.grad + b * 2 * each;
    for (std::int64_t e = 0; e < 2 * each; ++e) each_half[e % 2 * each + e / 2] = dy[e] / count;
    spread(n, each_half, each_half + each, p.grad + b * n * each);
  }
}

// On a device a thread has both means at (b, a, k), of p[:,a,k] and of p[a,:,k]; threads beside
// each other have k beside each other.
struct FindMeans {
  std::int64_t n;
  const Real* p;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched().reads(p, count * n).writes(y, 2 * count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t k = at % n, a = at / n % n, first = at / n / n * n;  // first = b n
    Real over_i = 0, over_j = 0;
    for (std::int64_t o = 0; o < n; ++o) {
      over_i += p[((first + o) * n + a) * n + k];
      over_j += p[((first + a) * n + o) * n + k];
    }
    y[at * 2] = over_i / static_cast<Real>(n);
    y[at * 2 + 1] = over_j / static_cast<Real>(n);
  }
};

// A thread has one number of dp.
struct PassMeans {
  std::int64_t n;
  const Real* dy;
  Real* dp;

  Touched touched(std::int64_t count) const {
    return Touched().reads(dy, 2 * (count / n)).writes(dp, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t k = at % n, j = at / n % n, i = at / n / n % n, b = at / n / n / n;
    const Real count = static_cast<Real>(n);
    dp[at] += dy[((b * n + j) * n + k) * 2] / count + dy[((b * n + i) * n + k) * 2 + 1] / count;
  }
};

}  // namespace

Tensor edge_pointer_means(Tape& tape, Tensor p) {
  const std::int64_t batch = p.dim(0), n = p.dim(1);
  RENAR_CHECK(p.shape == (Shape{batch, n, n, n}), "[edge_pointer_means] p {} is not (B,N,N,N)",
              p.shape.text());
  Tensor y = tape.output({batch, n, n, 2}, {p});
  const Device device = tape.device();
  if (device == Device::kCpu) {
    forward_on_cpu(p, y);
  } else {
    for_each(device, batch * n * n, FindMeans{n, p.data, y.data});
  }
  tape.record(y, [=] {
    if (device == Device::kCpu) return backward_on_cpu(p, y);
    for_each(device, p.size(), PassMeans{n, y.grad, p.grad});
  });
  return y;
}

void edge_pointer_means_of(std::int64_t n, const Real* target, Real* y) {
  std::fill_n(y, 2 * n * n, Real{0});
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t k = static_cast<std::int64_t>(target[i * n + j]);
      y[(j * n + k) * 2] += 1;
      y[(i * n + k) * 2 + 1] += 1;
    }
  }
  for (std::int64_t e = 0; e < 2 * n * n; ++e) y[e] /= static_cast<Real>(n);
}

}  // namespace renar
