#include "kernels/graph_node.h"

#include <algorithm>

#include "core/check.h"
#include "core/launch.h"

namespace renar {
namespace {

// Each says from which row of H numbers row r of y comes; null: zeros.
struct NodeRows {
  std::int64_t n, h;
  const Real *node, *graph;

  Touched touched(std::int64_t rows) const {
    const std::int64_t read = rows / (n + 1) * n * h;
    return Touched().reads(node, read).reads(graph, read);
  }
  RENAR_HOST_DEVICE const Real* operator()(std::int64_t r) const {
    const std::int64_t b = r / (n + 1), i = r % (n + 1);
    return i < n ? node + (b * n + i) * h : graph + b * n * h;
  }
};

struct EdgeRows {
  std::int64_t n, h;
  const Real *edge, *adj;

  Touched touched(std::int64_t rows) const {
    const std::int64_t edges = rows / (n + 1) / (n + 1) * n * n;
    return Touched().reads(edge, edges * h).reads(adj, edges);
  }
  RENAR_HOST_DEVICE const Real* operator()(std::int64_t r) const {
    const std::int64_t j = r % (n + 1), i = r / (n + 1) % (n + 1), b = r / (n + 1) / (n + 1);
    const std::int64_t from = (b * n + i) * n + j;
    if (i == n || j == n || (adj != nullptr && adj[from] <= 0)) return nullptr;
    return edge + from * h;
  }
};

// A thread a number: the rows lie one behind the other, so reads and writes are of whole lines.
template <class Rows>
struct CopyNumber {
  Rows rows;
  Real* y;

  Touched touched(std::int64_t count) const {
    return rows.touched(count / rows.h).writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const Real* from = rows(at / rows.h);
    y[at] = from == nullptr ? Real{0} : from[at % rows.h];
  }
};

template <class Rows>
Tensor gathered(Tape& tape, const Shape& shape, const Rows& rows) {
  const Tensor y = tape.constant(shape);
  if (tape.device() != Device::kCpu) {
    for_each(tape.device(), y.size(), CopyNumber<Rows>{rows, y.data});
    return y;
  }
  for (std::int64_t r = 0; r < y.rows(); ++r) {
    const Real* from = rows(r);
    if (from != nullptr) std::copy_n(from, rows.h, y.data + r * rows.h);
    if (from == nullptr) std::fill_n(y.data + r * rows.h, rows.h, Real{0});
  }
  return y;
}

// Of x with the last row added, and of what reaches both.
struct AddLast {
  std::int64_t n, h;
  const Real* x;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched().reads(x, count / n * (n + 1)).writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % h, i = at / h % n, b = at / h / n;
    y[at] = x[(b * (n + 1) + i) * h + c] + x[(b * (n + 1) + n) * h + c];
  }
};

struct PassLast {
  std::int64_t n, h;
  const Real* dy;
  Real* dx;

  Touched touched(std::int64_t count) const {
    return Touched().reads(dy, count / (n + 1) * n).writes(dx, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % h, i = at / h % (n + 1), b = at / h / (n + 1);
    const Real* column = dy + b * n * h + c;
    Real sum = dx[at];
    if (i < n) sum += column[i * h];
    for (std::int64_t j = 0; i == n && j < n; ++j) sum += column[j * h];
    dx[at] = sum;
  }
};

}  // namespace

Tensor append_graph(Tape& tape, Tensor node, Tensor graph) {
  RENAR_CHECK(node.shape.rank == 3 && node.shape == graph.shape,
              "[append_graph] node {} and graph {} are not both (B,N,H)", node.shape.text(),
              graph.shape.text());
  RENAR_CHECK(!node.has_grad() && !graph.has_grad(), "[append_graph] passes no gradient");
  const std::int64_t batch = node.dim(0), n = node.dim(1), h = node.dim(2);
  return gathered(tape, {batch, n + 1, h}, NodeRows{n, h, node.data, graph.data});
}

Tensor append_graph_edges(Tape& tape, Tensor edge, Tensor adj) {
  RENAR_CHECK(edge.shape.rank == 4 && edge.dim(1) == edge.dim(2),
              "[append_graph_edges] edge {} is not (B,N,N,H)", edge.shape.text());
  const std::int64_t batch = edge.dim(0), n = edge.dim(1), h = edge.dim(3);
  RENAR_CHECK(!adj || adj.size() == batch * n * n,
              "[append_graph_edges] adj {} does not fit edge {}", adj.shape.text(),
              edge.shape.text());
  RENAR_CHECK(!edge.has_grad(), "[append_graph_edges] passes no gradient");
  return gathered(tape, {batch, n + 1, n + 1, h}, EdgeRows{n, h, edge.data, adj.data});
}

Tensor add_last(Tape& tape, Tensor x) {
  RENAR_CHECK(x.shape.rank == 3 && x.dim(1) > 1, "[add_last] x {} is not (B,N+1,H)",
              x.shape.text());
  const std::int64_t batch = x.dim(0), n = x.dim(1) - 1, h = x.dim(2);
  Tensor y = tape.output({batch, n, h}, {x});
  for_each(tape.device(), y.size(), AddLast{n, h, x.data, y.data});
  tape.record(y, [=, device = tape.device()] {
    for_each(device, x.size(), PassLast{n, h, y.grad, x.grad});
  });
  return y;
}

}  // namespace renar
