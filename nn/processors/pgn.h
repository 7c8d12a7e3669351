// The PGN family: thirteen kinds as four options that stand beside each other. docs/model.md 3.
//
//   z          = [node_fts, hidden]
//   msg[i,j]   = m2(z)[i] + m1(z)[j] + m_e(edge_fts)[i,j] + m_g(graph)     i sends, j receives
//   msgs[j]    = max of MLP(relu(msg[i,j])) over the senders i that j hears
//   edge'[j,k] = relu(o3(max over i of triplets[i,j,k]))                   triplets
//   ret        = LayerNorm(relu(o1(z) + o2(msgs)))
//   ret        = ret * gate + hidden * (1 - gate), gate = sigmoid(g3(relu(g1(z) + g2(msgs))))
//                                                                          gated
//
// Sources: Velickovic et al. 2020 (PGN), Gilmer et al. 2017 (MPNN), Zaheer et al. 2017 (deep sets),
// Dudzik and Velickovic 2022 (triplets), Ibarz et al. 2022 (gate).
#pragma once

#include "nn/processor.h"

namespace renar {

/// Whom a node hears: itself, all nodes, or its neighbours in the step's adjacency.
enum class Heard { kSelf, kAll, kEdges };

struct PgnOptions {
  Heard heard = Heard::kAll;
  bool mask = false;  ///< decoders of pointers and edge masks rule out what is no edge
  bool triplets = false;
  bool gated = false;
};

std::unique_ptr<Processor> make_pgn(const Builder& builder, const ProcessorOptions& options,
                                    const PgnOptions& pgn);

}  // namespace renar
