#include "kernels/linear_max.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"
#include "kernels/gemm.h"
#include "kernels/linear.h"
#include "kernels/sender_max.h"

namespace renar {
namespace {

// dx += g w, dw += g x: one winner of one channel, along K.
RENAR_CLONES void pass_to_winner(std::int64_t k, Real g, const Real* w, const Real* x, Real* dx,
                                 Real* dw) {
  for (std::int64_t l = 0; l < k; ++l) {
    dx[l] += g * w[l];
    dw[l] += g * x[l];
  }
}

// to[c][r] = from[r][c], or += where asked; in blocks, since whole columns would evict each other.
void transpose(std::int64_t rows, std::int64_t cols, const Real* from, Real* to, bool accumulate) {
  constexpr std::int64_t kBlock = 16;  // a cache line of floats
  for (std::int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    for (std::int64_t c0 = 0; c0 < cols; c0 += kBlock) {
      for (std::int64_t c = c0; c < std::min(c0 + kBlock, cols); ++c) {
        for (std::int64_t r = r0; r < std::min(r0 + kBlock, rows); ++r) {
          to[c * rows + r] = from[r * cols + c] + (accumulate ? to[c * rows + r] : Real{0});
        }
      }
    }
  }
}

struct Saved {
  Tensor x, w, bias, adj;
  Tensor products;  // (B,N,N,H), read again only where a maximum was tied
  Winners winners;
};

void backward(const Saved& s, const Tensor& y) {
  const std::int64_t n = s.x.dim(1), k = s.w.dim(0), h = s.w.dim(1);
  // Columns of W as rows, so that a channel's weights and their gradient are contiguous.
  static thread_local std::vector<Real> scratch;
  scratch.resize(static_cast<std::size_t>(2 * k * h));
  Real *wt = scratch.data(), *dwt = wt + k * h;
  transpose(k, h, s.w.data, wt, false);
  std::fill_n(dwt, k * h, Real{0});
  std::int64_t passed = 0;
  for (std::int64_t row = 0; row < y.rows(); ++row) {
    const std::int64_t b = row / n, j = row % n;
    for (std::int64_t c = 0; c < h; ++c) {
      const Real g = y.grad[row * h + c];
      if (g == 0) continue;
      for_each_winner(
          s.products, s.adj, y.data, s.winners, b, j, c, [&](std::int64_t i, Real share) {
            const std::int64_t edge = ((b * n + i) * n + j) * k;
            ++passed;
            pass_to_winner(k, share * g, wt + c * k, s.x.data + edge, s.x.grad + edge, dwt + c * k);
            s.bias.grad[c] += share * g;
          });
    }
  }
  add_flops(4 * k * passed);
  transpose(h, k, dwt, s.w.grad, true);
}

// On a device the product is a linear, whose backward is dense: the gradient of the products, zero
// at all but the winners, passes through both of its products and the sum for the bias. Following
// the winners, as above, would save 15 of 16 multiply-adds at 16 nodes, but many channels add to
// one row of dx, and each reads a column of W of its own; the dense products read all in order and
// take 6 to 8 us each there (gemm.cu).
constexpr Real kLowest = -std::numeric_limits<Real>::infinity();

/// What number `at` of y, channel c of receiver (b, j), is the maximum of. A thread has one such
/// number; its neighbours have the channels beside it.
struct Heard {
  std::int64_t n, h;
  const Real* products;  // (B,N,N,H)
  const Real* adj;       // (B,N,N), or null

  /// The edge of sender 0; that of the next sender is n on. Divisions of 64 bits take a hundred
  /// instructions and stay out of the loops over senders.
  RENAR_HOST_DEVICE std::int64_t first_edge(std::int64_t at) const {
    const std::int64_t receiver = at / h;
    return receiver / n * n * n + receiver % n;
  }
  RENAR_HOST_DEVICE bool allows(std::int64_t edge) const { return adj == nullptr || adj[edge] > 0; }
};

struct FindWinners {
  Heard heard;
  Real* y;
  Winners winners;

  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    Real best = kLowest;
    std::int32_t first = -1, count = 0;
    bool missing = false;
    const std::int64_t c = at % heard.h, begin = heard.first_edge(at);
    for (std::int64_t i = 0; i < heard.n; ++i) {
      const std::int64_t edge = begin + i * heard.n;
      if (!heard.allows(edge)) {
        missing = true;
        continue;
      }
      const Real v = heard.products[edge * heard.h + c];
      if (v > best) first = static_cast<std::int32_t>(i);
      count = v > best ? 1 : count + (v == best ? 1 : 0);
      best = v > best ? v : best;
    }
    const bool nobody = missing && best <= kNoEdge;
    y[at] = nobody ? kNoEdge : best;
    winners.first[at] = nobody ? -1 : first;
    winners.count[at] = count;
  }
};

// A product has one receiver and one channel, so that one thread alone adds to its gradient.
struct PassToWinners {
  Heard heard;
  const Real *y, *dy;
  Winners winners;
  Real* dproducts;

  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    if (winners.first[at] < 0) return;
    std::int32_t left = winners.count[at];
    const Real share = dy[at] / static_cast<Real>(left);
    const std::int64_t c = at % heard.h, begin = heard.first_edge(at);
    for (std::int64_t i = winners.first[at]; i < heard.n && left > 0; ++i) {
      const std::int64_t edge = begin + i * heard.n;
      if (!heard.allows(edge) || heard.products[edge * heard.h + c] != y[at]) continue;
      dproducts[edge * heard.h + c] += share;
      --left;
    }
  }
};

Tensor on_device(Tape& tape, const Tensor& x, const Tensor& w, const Tensor& bias,
                 const Tensor& adj) {
  const Tensor products = linear(tape, {{x, w}}, {bias});  // (B,N,N,H)
  const Tensor y = tape.output({x.dim(0), x.dim(1), w.dim(1)}, {products});
  const Winners winners{tape.array<std::int32_t>(y.size()), tape.array<std::int32_t>(y.size())};
  const Heard heard{x.dim(1), w.dim(1), products.data, adj.data};
  for_each(tape.device(), y.size(), FindWinners{heard, y.data, winners});
  tape.record(y, [=, device = tape.device()] {
    for_each(device, y.size(), PassToWinners{heard, y.data, y.grad, winners, products.grad});
  });
  return y;
}

}  // namespace

Tensor linear_max(Tape& tape, Tensor x, Tensor w, Tensor bias, Tensor adj) {
  RENAR_CHECK(
      x.shape.rank == 4 && x.dim(1) == x.dim(2) && x.cols() == w.dim(0) && bias.size() == w.dim(1),
      "[linear_max] x {}, w {}, bias {} do not fit", x.shape.text(), w.shape.text(),
      bias.shape.text());
  RENAR_CHECK(!adj || adj.size() == x.rows(), "[linear_max] adj {} does not fit x {}",
              adj.shape.text(), x.shape.text());
  RENAR_CHECK(
      !tape.recording() || (x.has_grad() == w.has_grad() && x.has_grad() == bias.has_grad()),
      "[linear_max] x, w and bias must all want a gradient, or none");
  if (tape.device() != Device::kCpu) return on_device(tape, x, w, bias, adj);
  const std::int64_t batch = x.dim(0), n = x.dim(1), k = w.dim(0), h = w.dim(1);
  Tensor y = tape.output({batch, n, h}, {x, w, bias});  // (B,N,H)
  Saved saved{x,
              w,
              bias,
              adj,
              tape.constant({batch, n, n, h}),
              {tape.array<std::int32_t>(y.size()), tape.array<std::int32_t>(y.size())}};
  gemm(Device::kCpu, x.rows(), h, k, {x.data, k, 1}, {w.data, h, 1}, saved.products.data,
       {.bias = bias.data});
  max_of_senders(saved.products, adj, y.data, saved.winners);
  tape.record(y, [=] { backward(saved, y); });
  return y;
}

}  // namespace renar
