// adjacency: which node hears which, from the step's data; no gradient.   adj (B,N,N) of 0 / 1
//
// Starts as the identity. A node pointer P (B,N,N) adds the edges where P + P^T > 0.5, an edge mask
// M those where M + M^T > 0 (docs/model.md 2). Read by pgn, gat, gatv2, memnet_masked and the
// *_mask processors alone (Processor::reads_adjacency).
//
// mask_non_edges: y = x where adj, else min(-1, the sample's smallest x - 1)
//
// For the decoders of pointers and of masks on edges that follow a *_mask processor.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor identity_adjacency(Tape& tape, std::int64_t batch, std::int64_t nodes);
void add_edges(Device device, Tensor adj, Tensor relation, Real threshold);

constexpr Real kPointerEdge = 0.5;
constexpr Real kMaskEdge = 0;

/// x (B,N,N), adj (B,N,N). The filled value's gradient goes to the smallest entries, evenly.
Tensor mask_non_edges(Tape& tape, Tensor x, Tensor adj);

}  // namespace renar
