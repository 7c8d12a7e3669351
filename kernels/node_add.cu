#include "kernels/node_add.h"

#include "core/check.h"

namespace renar {

Tensor node_add(Tape& tape, Tensor x, Tensor graph) {
  RENAR_CHECK(x.shape.rank == 3 && graph.shape == (Shape{x.dim(0), x.dim(2)}),
              "[node_add] graph {} does not fit x {}", graph.shape.text(), x.shape.text());
  const std::int64_t nodes = x.dim(1), cols = x.dim(2);
  Tensor y = tape.output(x.shape, {x, graph});
  // Where number `at` of x finds its graph's.
  const auto of_graph = [=](std::int64_t at) { return at / (nodes * cols) * cols + at % cols; };
  for (std::int64_t at = 0; at < y.size(); ++at) {
    y.data[at] = x.data[at] + graph.data[of_graph(at)];
  }
  tape.record(y, [=] {
    for (std::int64_t at = 0; at < y.size(); ++at) {
      if (x.has_grad()) x.grad[at] += y.grad[at];
      if (graph.has_grad()) graph.grad[of_graph(at)] += y.grad[at];
    }
  });
  return y;
}

}  // namespace renar
