// sender_max: y[b,m] = max over i of x[b,i,m], where adj allows sender i to reach m.
//
// x (B,N,M,H), adj (B,N,M) of 0 / 1 or absent (all ones), y (B,M,H). A missing edge counts as -1e6,
// as in the field's reference. Equal maxima share the gradient evenly. Source: dm-clrs, PGN;
// docs/model.md 3.
//
// max_of_senders and its backward serve linear_max, which fuses the product before it.
#pragma once

#include "core/tape.h"

namespace renar {

constexpr Real kNoEdge = -1e6;

/// What a maximum remembers: its first sender (-1: only missing edges) and how many equal it.
struct Winners {
  std::int32_t* first = nullptr;  // (B,M,H)
  std::int32_t* count = nullptr;  // (B,M,H)
};

Tensor sender_max(Tape& tape, Tensor x, Tensor adj);

/// Plain form on raw numbers of the CPU; m = x.dim(2).
void max_of_senders(const Tensor& x, const Tensor& adj, Real* y, Winners winners);

/// Calls each(i, share) for every sender that won entry (b, m, c) of the maximum `y` over x
/// (B,N,M,H), whose numbers may be absent where there was no tie.
template <class Each>
void for_each_winner(const Tensor& x, const Tensor& adj, const Real* y, Winners winners,
                     std::int64_t b, std::int64_t m, std::int64_t c, const Each& each) {
  const std::int64_t n = x.dim(1), receivers = x.dim(2), h = x.dim(3);
  const std::int64_t at = (b * receivers + m) * h + c;
  if (winners.first[at] < 0) return;
  if (winners.count[at] == 1) return each(winners.first[at], Real{1});
  const Real share = Real{1} / static_cast<Real>(winners.count[at]);
  for (std::int64_t i = winners.first[at]; i < n; ++i) {
    const bool edge = !adj || adj.data[(b * n + i) * receivers + m] > 0;
    if (edge && x.data[((b * n + i) * receivers + m) * h + c] == y[at]) each(i, share);
  }
}

}  // namespace renar
