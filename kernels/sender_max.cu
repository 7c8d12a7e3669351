#include "kernels/sender_max.h"

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"

namespace renar {
namespace {

// One sender's row against the maxima so far.
RENAR_CLONES void challenge(std::int64_t h, std::int32_t sender, const Real* x, Real* best,
                            std::int32_t* first, std::int32_t* count) {
  for (std::int64_t c = 0; c < h; ++c) {
    const Real v = x[c], old = best[c];
    first[c] = v > old ? sender : first[c];
    count[c] = v > old ? 1 : count[c] + (v == old ? 1 : 0);
    best[c] = v > old ? v : old;
  }
}

// On a device a thread has one maximum (b, m, c) and goes through its senders; threads beside each
// other have channels beside each other, so a warp reads whole lines.
struct FindMaximum {
  std::int64_t n, receivers, h;
  const Real *x, *adj;  // adj null: all edges are there
  Real* y;
  Winners winners;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(x, count * n)
        .reads(adj, count / h * n)
        .writes(y, count)
        .writes(winners.first, count)
        .writes(winners.count, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % h, m = at / h % receivers, b = at / h / receivers;
    Real best = kMinusInfinity;
    std::int32_t first = -1, count = 0;
    bool missing = false;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t edge = (b * n + i) * receivers + m;
      if (adj != nullptr && adj[edge] <= 0) {
        missing = true;
        continue;
      }
      const Real v = x[edge * h + c];
      first = v > best ? static_cast<std::int32_t>(i) : first;
      count = v > best ? 1 : count + (v == best ? 1 : 0);
      best = v > best ? v : best;
    }
    const bool nobody = missing && best <= kNoEdge;
    y[at] = nobody ? kNoEdge : best;
    winners.first[at] = nobody ? -1 : first;
    winners.count[at] = count;
  }
};

// Each sender's number is in one maximum only, so the thread of the maximum owns its gradient. As a
// rule there is one winner, and the thread writes once.
struct PassToWinners {
  std::int64_t n, receivers, h;
  const Real *x, *adj, *y, *dy;
  Winners winners;
  Real* dx;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(x, count * n)
        .reads(adj, count / h * n)
        .reads(y, count)
        .reads(dy, count)
        .reads(winners.first, count)
        .reads(winners.count, count)
        .writes(dx, count * n);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    if (winners.first[at] < 0) return;
    const std::int64_t c = at % h, m = at / h % receivers, b = at / h / receivers;
    const Real share = Real{1} / static_cast<Real>(winners.count[at]);
    std::int32_t left = winners.count[at];
    for (std::int64_t i = winners.first[at]; i < n && left > 0; ++i) {
      const std::int64_t edge = (b * n + i) * receivers + m, from = edge * h + c;
      if ((adj != nullptr && adj[edge] <= 0) || x[from] != y[at]) continue;
      dx[from] += share * dy[at];
      --left;
    }
  }
};

void backward_on_cpu(const Tensor& x, const Tensor& adj, const Tensor& y, Winners winners) {
  const std::int64_t receivers = x.dim(2), h = x.dim(3);
  for (std::int64_t at = 0; at < y.size(); ++at) {
    const std::int64_t c = at % h, m = at / h % receivers, b = at / h / receivers;
    for_each_winner(x, adj, y.data, winners, b, m, c, [&](std::int64_t i, Real share) {
      x.grad[((b * x.dim(1) + i) * receivers + m) * h + c] += share * y.grad[at];
    });
  }
}

}  // namespace

void max_of_senders(const Tensor& x, const Tensor& adj, Real* y, Winners winners) {
  const std::int64_t batch = x.dim(0), n = x.dim(1), receivers = x.dim(2), h = x.dim(3);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t m = 0; m < receivers; ++m) {
      const std::int64_t at = (b * receivers + m) * h;
      bool missing = false;
      for (std::int64_t i = 0; adj && i < n; ++i) {
        missing = missing || adj.data[(b * n + i) * receivers + m] <= 0;
      }
      for (std::int64_t c = 0; c < h; ++c) {
        y[at + c] = missing ? kNoEdge : kMinusInfinity;
        winners.first[at + c] = -1;
        winners.count[at + c] = missing ? 1 : 0;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t edge = (b * n + i) * receivers + m;
        if (adj && adj.data[edge] <= 0) continue;
        challenge(h, static_cast<std::int32_t>(i), x.data + edge * h, y + at, winners.first + at,
                  winners.count + at);
      }
    }
  }
}

Tensor sender_max(Tape& tape, Tensor x, Tensor adj) {
  RENAR_CHECK(x.shape.rank == 4, "[sender_max] x {} is not (B,N,M,H)", x.shape.text());
  const std::int64_t batch = x.dim(0), n = x.dim(1), receivers = x.dim(2), h = x.dim(3);
  RENAR_CHECK(!adj || adj.size() * h == x.size(), "[sender_max] adj {} does not fit x {}",
              adj.shape.text(), x.shape.text());
  Tensor y = tape.output({batch, receivers, h}, {x});  // (B,M,H)
  const Winners winners{tape.array<std::int32_t>(y.size()), tape.array<std::int32_t>(y.size())};
  const Device device = tape.device();
  if (device == Device::kCpu) {
    max_of_senders(x, adj, y.data, winners);
  } else {
    for_each(device, y.size(), FindMaximum{n, receivers, h, x.data, adj.data, y.data, winners});
  }
  tape.record(y, [=] {
    if (device == Device::kCpu) return backward_on_cpu(x, adj, y, winners);
    for_each(device, y.size(),
             PassToWinners{n, receivers, h, x.data, adj.data, y.data, y.grad, winners, x.grad});
  });
  return y;
}

}  // namespace renar
