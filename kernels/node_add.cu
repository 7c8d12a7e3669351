#include "kernels/node_add.h"

#include "core/check.h"
#include "core/launch.h"
#include "kernels/accumulate.h"

namespace renar {
namespace {

struct AddGraph {
  std::int64_t nodes, cols;
  const Real *x, *graph;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched().reads(x, count).reads(graph, count / nodes).writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    y[at] = x[at] + graph[at / (nodes * cols) * cols + at % cols];
  }
};

// One number of a graph, which all its nodes have read.
struct SumOverNodes {
  std::int64_t nodes, cols;
  const Real* dy;
  Real* dgraph;

  Touched touched(std::int64_t count) const {
    return Touched().reads(dy, count * nodes).writes(dgraph, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t first = at / cols * nodes * cols + at % cols;
    Real sum = dgraph[at];
    for (std::int64_t i = 0; i < nodes; ++i) sum += dy[first + i * cols];
    dgraph[at] = sum;
  }
};

}  // namespace

Tensor node_add(Tape& tape, Tensor x, Tensor graph) {
  RENAR_CHECK(x.shape.rank == 3 && graph.shape == (Shape{x.dim(0), x.dim(2)}),
              "[node_add] graph {} does not fit x {}", graph.shape.text(), x.shape.text());
  const std::int64_t nodes = x.dim(1), cols = x.dim(2);
  Tensor y = tape.output(x.shape, {x, graph});
  for_each(tape.device(), y.size(), AddGraph{nodes, cols, x.data, graph.data, y.data});
  tape.record(y, [=, device = tape.device()] {
    if (x.has_grad()) accumulate(device, y.size(), y.grad, x.grad);
    if (graph.has_grad()) {
      for_each(device, graph.size(), SumOverNodes{nodes, cols, y.grad, graph.grad});
    }
  });
  return y;
}

}  // namespace renar
