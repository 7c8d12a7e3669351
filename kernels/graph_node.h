// The graph as one node more, the last, for a processor that treats it so (a memory network).
//
// append_graph:        y[b,i] = node[b,i], y[b,N] = graph[b,0]               (B,N+1,H) of (B,N,H)
// append_graph_edges:  y[b,i,j] = edge[b,i,j] where there is an edge, else 0; so are the graph's
//                      row and column                            (B,N+1,N+1,H) of (B,N,N,H)
// add_last:            y[b,i] = x[b,i] + x[b,N]                              (B,N,H) of (B,N+1,H)
//
// No gradient passes the first two, which throw where an input has one: what reads their results
// cuts it to integers (kernels/memory.h).
#pragma once

#include "core/tape.h"

namespace renar {

/// node and graph (B,N,H); the graph's numbers stand at each of its nodes.
Tensor append_graph(Tape& tape, Tensor node, Tensor graph);

/// edge (B,N,N,H), adj (B,N,N) of 0 / 1 or absent (all ones).
Tensor append_graph_edges(Tape& tape, Tensor edge, Tensor adj);

Tensor add_last(Tape& tape, Tensor x);

}  // namespace renar
