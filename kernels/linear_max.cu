#include "kernels/linear_max.h"

#include <algorithm>
#include <vector>

#include "core/check.h"
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
  Tensor products;  // (B,N,N,H); numbers absent where no maximum was tied, as nobody reads them
  Winners winners;
};

// Channels whose columns of W and dW, 32 KiB at K = 128, stay in L1 while all receivers pass; all
// channels of one receiver after the other would bring each column from L2 for each receiver.
constexpr std::int64_t kChannelsAtOnce = 32;

// One receiver's channels first .. end, wt and dwt having columns as rows; the winners' number.
std::int64_t pass_channels(const Saved& s, const Tensor& y, std::int64_t row, std::int64_t first,
                           std::int64_t end, const Real* wt, Real* dwt) {
  const std::int64_t n = s.x.dim(1), k = s.w.dim(0), h = s.w.dim(1), b = row / n, j = row % n;
  std::int64_t passed = 0;
  for (std::int64_t c = first; c < end; ++c) {
    const Real g = y.grad[row * h + c];
    if (g == 0) continue;
    const auto pass = [&](std::int64_t i, Real share) {
      const std::int64_t edge = ((b * n + i) * n + j) * k;
      ++passed;
      pass_to_winner(k, share * g, wt + c * k, s.x.data + edge, s.x.grad + edge, dwt + c * k);
      s.bias.grad[c] += share * g;
    };
    for_each_winner(s.products, s.adj, y.data, s.winners, b, j, c, pass);
  }
  return passed;
}

void backward(const Saved& s, const Tensor& y) {
  const std::int64_t k = s.w.dim(0), h = s.w.dim(1);
  // Columns of W as rows, so that a channel's weights and their gradient are contiguous.
  static thread_local std::vector<Real> scratch;
  scratch.resize(static_cast<std::size_t>(2 * k * h));
  Real *wt = scratch.data(), *dwt = wt + k * h;
  transpose(k, h, s.w.data, wt, false);
  std::fill_n(dwt, k * h, Real{0});
  std::int64_t passed = 0;
  for (std::int64_t first = 0; first < h; first += kChannelsAtOnce) {
    const std::int64_t end = std::min(h, first + kChannelsAtOnce);
    for (std::int64_t row = 0; row < y.rows(); ++row) {
      passed += pass_channels(s, y, row, first, end, wt, dwt);
    }
  }
  add_flops(4 * k * passed);
  transpose(h, k, dwt, s.w.grad, true);
}

// Memory that the next call uses again, and so finds in a cache.
Tensor scratch_for(const Shape& shape) {
  static thread_local std::vector<Real> room;
  const auto size = static_cast<std::size_t>(shape.size());
  if (room.size() < size) room.resize(size);
  return {room.data(), nullptr, shape};
}

bool has_ties(const Winners& winners, std::int64_t count) {
  return std::any_of(winners.count, winners.count + count,
                     [](std::int32_t equal) { return equal > 1; });
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
  // On a device by its definition, whose backward is dense: the gradient of the products, zero at
  // all but the winners, passes through both products and the sum for the bias. Following the
  // winners, as above, would save 15 of 16 multiply-adds at 16 nodes, but many channels add to one
  // row of dx, and each reads a column of W of its own; the dense products read all in order.
  if (tape.device() != Device::kCpu) {
    return sender_max(tape, linear(tape, {{x, w}}, {bias}), adj);
  }
  const std::int64_t batch = x.dim(0), n = x.dim(1), k = w.dim(0), h = w.dim(1);
  Tensor y = tape.output({batch, n, h}, {x, w, bias});  // (B,N,H)
  const Winners winners{tape.array<std::int32_t>(y.size()), tape.array<std::int32_t>(y.size())};
  const Tensor products = scratch_for({batch, n, n, h});
  const GemmTerm product{k, {x.data, k, 1}, {w.data, h, 1}, tape.panels(w)};
  gemm(x.rows(), h, &product, 1, products.data, {.bias = bias.data});
  max_of_senders(products, adj, y.data, winners);
  if (!y.has_grad()) return y;
  Saved saved{x, w, bias, adj, {nullptr, nullptr, products.shape}, winners};
  if (has_ties(winners, y.size())) {
    saved.products = tape.constant(products.shape);
    std::copy_n(products.data, products.size(), saved.products.data);
  }
  tape.record(y, [=] { backward(saved, y); });
  return y;
}

}  // namespace renar
