// node_add: y[b,i] = x[b,i] + graph[b];   x, y (B,N,O), graph (B,O): a graph says the same to each
// of its nodes.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor node_add(Tape& tape, Tensor x, Tensor graph);

}  // namespace renar
