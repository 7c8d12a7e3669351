#include "kernels/triplet_max.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/check.h"
#include "core/simd.h"

namespace renar {
namespace {

// The three loops below, for one j: best[k] = max over i of left[i,j] + right[i,k]; how many are
// equal to it; and the gradient of each of those. The sum must be the same expression in all of
// them: winners are found again by value. kF is the number of features where it is known (the
// default of 8 is one AVX2 vector), else 0.
template <int kF>
[[gnu::always_inline]] inline void best_senders_of(std::int64_t n, std::int64_t features,
                                                   const Real* left, const Real* right,
                                                   Real* __restrict best) {
  const std::int64_t f = kF > 0 ? kF : features;
  std::fill_n(best, n * f, -std::numeric_limits<Real>::infinity());
  for (std::int64_t i = 0; i < n; ++i, left += n * f) {
    for (std::int64_t k = 0; k < n; ++k, right += f) {
      for (std::int64_t c = 0; c < f; ++c) {
        const Real v = left[c] + right[c];
        best[k * f + c] = v > best[k * f + c] ? v : best[k * f + c];
      }
    }
  }
}

template <int kF>
[[gnu::always_inline]] inline void count_winners_of(std::int64_t n, std::int64_t features,
                                                    const Real* left, const Real* right,
                                                    const Real* best, Real* __restrict count) {
  const std::int64_t f = kF > 0 ? kF : features;
  std::fill_n(count, n * f, Real{0});
  for (std::int64_t i = 0; i < n; ++i, left += n * f) {
    for (std::int64_t k = 0; k < n; ++k, right += f) {
      for (std::int64_t c = 0; c < f; ++c) {
        count[k * f + c] += static_cast<Real>(left[c] + right[c] == best[k * f + c]);
      }
    }
  }
}

template <int kF>
[[gnu::always_inline]] inline void pass_to_winners_of(std::int64_t n, std::int64_t features,
                                                      const Real* left, const Real* right,
                                                      const Real* best, const Real* share,
                                                      Real* __restrict dleft,
                                                      Real* __restrict dright) {
  const std::int64_t f = kF > 0 ? kF : features;
  for (std::int64_t i = 0; i < n; ++i, left += n * f, dleft += n * f) {
    Real sums[kF > 0 ? kF : 1] = {};  // dleft of this i, in registers
    for (std::int64_t k = 0; k < n; ++k, right += f, dright += f) {
      for (std::int64_t c = 0; c < f; ++c) {
        const Real won = static_cast<Real>(left[c] + right[c] == best[k * f + c]);
        (kF > 0 ? sums[c] : dleft[c]) += won * share[k * f + c];
        dright[c] += won * share[k * f + c];
      }
    }
    for (int c = 0; c < kF; ++c) dleft[c] += sums[c];
  }
}

constexpr int kUsualFeatures = 8;

RENAR_CLONES void best_senders(std::int64_t n, std::int64_t f, const Real* left, const Real* right,
                               Real* best) {
  f == kUsualFeatures ? best_senders_of<kUsualFeatures>(n, f, left, right, best)
                      : best_senders_of<0>(n, f, left, right, best);
}

RENAR_CLONES void count_winners(std::int64_t n, std::int64_t f, const Real* left, const Real* right,
                                const Real* best, Real* count) {
  f == kUsualFeatures ? count_winners_of<kUsualFeatures>(n, f, left, right, best, count)
                      : count_winners_of<0>(n, f, left, right, best, count);
}

RENAR_CLONES void pass_to_winners(std::int64_t n, std::int64_t f, const Real* left,
                                  const Real* right, const Real* best, const Real* share,
                                  Real* dleft, Real* dright) {
  f == kUsualFeatures
      ? pass_to_winners_of<kUsualFeatures>(n, f, left, right, best, share, dleft, dright)
      : pass_to_winners_of<0>(n, f, left, right, best, share, dleft, dright);
}

void check(const Tensor& left, const Tensor& right, const Tensor& rest) {
  RENAR_CHECK(left.shape.rank == 4 && left.dim(1) == left.dim(2) && left.shape == right.shape &&
                  left.shape == rest.shape,
              "[triplet_max] left {}, right {} and rest {} must be one (B,N,N,F)",
              left.shape.text(), right.shape.text(), rest.shape.text());
  RENAR_CHECK(left.has_grad() == right.has_grad() && left.has_grad() == rest.has_grad(),
              "[triplet_max] left, right and rest must all want a gradient, or none");
}

}  // namespace

Tensor triplet_max(Tape& tape, Tensor left, Tensor right, Tensor rest) {
  check(left, right, rest);
  const std::int64_t batch = left.dim(0), n = left.dim(1), f = left.dim(3), row = n * f;
  Tensor y = tape.output(left.shape, {left, right, rest});
  Tensor best = tape.constant(left.shape);  // (B,N,N,F)
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t at = (b * n + j) * row;
      best_senders(n, f, left.data + b * n * row + j * f, right.data + b * n * row, best.data + at);
    }
  }
  for (std::int64_t e = 0; e < y.size(); ++e) y.data[e] = best.data[e] + rest.data[e];
  tape.record(y, [=] {
    static thread_local std::vector<Real> share;
    share.resize(static_cast<std::size_t>(row));
    for (std::int64_t b = 0; b < batch; ++b) {
      const Real* r = right.data + b * n * row;
      for (std::int64_t j = 0; j < n; ++j) {
        const Real* l = left.data + b * n * row + j * f;
        const Real* m = best.data + (b * n + j) * row;
        const Real* g = y.grad + (b * n + j) * row;
        count_winners(n, f, l, r, m, share.data());
        for (std::int64_t e = 0; e < row; ++e) {
          share[static_cast<std::size_t>(e)] = g[e] / share[static_cast<std::size_t>(e)];
        }
        pass_to_winners(n, f, l, r, m, share.data(), left.grad + b * n * row + j * f,
                        right.grad + b * n * row);
      }
    }
    for (std::int64_t e = 0; e < y.size(); ++e) rest.grad[e] += y.grad[e];
  });
  return y;
}

Tensor triplet_sum(Tape& tape, Tensor left, Tensor right, Tensor rest) {
  check(left, right, rest);
  const std::int64_t batch = left.dim(0), n = left.dim(1), f = left.dim(3);
  Tensor y = tape.output({batch, n, n, n, f}, {left, right, rest});
  // Calls each(place in y, in left, in right, in rest).
  const auto walk = [=](const auto& each) {
    for (std::int64_t at = 0; at < y.size(); ++at) {
      const std::int64_t c = at % f, k = at / f % n, j = at / f / n % n, i = at / f / n / n % n;
      const std::int64_t b = at / f / n / n / n;
      each(at, ((b * n + i) * n + j) * f + c, ((b * n + i) * n + k) * f + c,
           ((b * n + j) * n + k) * f + c);
    }
  };
  walk([&](auto at, auto l, auto r, auto s) {
    y.data[at] = (left.data[l] + right.data[r]) + rest.data[s];
  });
  tape.record(y, [=] {
    walk([&](auto at, auto l, auto r, auto s) {
      left.grad[l] += y.grad[at];
      right.grad[r] += y.grad[at];
      rest.grad[s] += y.grad[at];
    });
  });
  return y;
}

}  // namespace renar
