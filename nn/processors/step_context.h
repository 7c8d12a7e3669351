// What the processors' first layers read in one step, as terms of a linear (kernels/linear.h).
//
//   z = [node_fts, hidden]   (B,N,2H), never concatenated: a layer's first H rows meet node_fts
#pragma once

#include "nn/processor.h"

namespace renar {

struct StepContext {
  Tape& tape;
  Composer& composer;
  const ProcessorInputs& in;
};

/// layer(z), layer(graph_fts) at every node and layer(edge_fts), each without its bias.
inline Terms z(const StepContext& c, const Linear& layer) {
  const Tensor w = c.tape.use(layer.w);  // (2H,O)
  const std::int64_t hidden = c.in.hidden.cols();
  return {c.composer.term(c.in.node, w.first(hidden)), {c.in.hidden, w.slice(hidden, 2 * hidden)}};
}
inline Term graph(const StepContext& c, const Linear& layer) {
  return c.composer.term(c.in.graph, c.tape.use(layer.w));
}
inline Term edge(const StepContext& c, const Linear& layer) {
  return c.composer.term(c.in.edge, c.tape.use(layer.w));
}
inline Terms plus(Terms terms, const Term& another) {
  terms.add(another);
  return terms;
}

}  // namespace renar
