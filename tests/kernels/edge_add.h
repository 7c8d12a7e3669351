// edge_add: y[b,i,j] = send[b,i] + recv[b,j] + e[b,i,j]   (B,N,N,H)
//
// What edge_linear makes of a linear, in plain loops on the CPU. send and recv (B,N,H) may be
// absent.
#pragma once

#include "core/tape.h"

namespace renar::test {

/// Calls each(end, edge) with the places of an end's and an edge's numbers, channel by channel, for
/// all edges: as a sender (axis 1 of the edge) or as a receiver (axis 2).
template <class Each>
void for_each_end(const Tensor& edges, bool senders, const Each& each) {
  const std::int64_t n = edges.dim(1), h = edges.dim(3);
  for (std::int64_t at = 0; at < edges.size(); ++at) {
    const std::int64_t c = at % h, j = at / h % n, i = at / h / n % n, b = at / h / n / n;
    each((b * n + (senders ? i : j)) * h + c, at);
  }
}

inline Tensor edge_add(Tape& tape, Tensor send, Tensor recv, Tensor e) {
  const Tensor y = tape.output(e.shape, {send, recv, e});
  for (std::int64_t at = 0; at < y.size(); ++at) y.data[at] = 0;
  if (send) for_each_end(y, true, [&](auto end, auto edge) { y.data[edge] += send.data[end]; });
  if (recv) for_each_end(y, false, [&](auto end, auto edge) { y.data[edge] += recv.data[end]; });
  for (std::int64_t at = 0; at < y.size(); ++at) y.data[at] += e.data[at];
  tape.record(y, [=] {
    const auto add = [&](const Tensor& to, bool senders) {
      if (!to.has_grad()) return;
      for_each_end(y, senders, [&](auto end, auto edge) { to.grad[end] += y.grad[edge]; });
    };
    add(send, true);
    add(recv, false);
    for (std::int64_t at = 0; e.has_grad() && at < y.size(); ++at) e.grad[at] += y.grad[at];
  });
  return y;
}

}  // namespace renar::test
