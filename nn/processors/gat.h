// Graph attention: a node adds up what its neighbours say, by weights that it gives them.
// docs/model.md 3.
//
//   z          = [node_fts, hidden]
//   logit[i,j] = leaky_relu(a1(z)[i] + a2(z)[j] + a_e(edge_fts)[i,j] + a_g(graph))         GAT
//   logit[i,j] = head(leaky_relu(w2(z)[i] + w1(z)[j] + w_e(edge_fts)[i,j] + w_g(graph)))   GATv2
//   ret[i]     = LayerNorm(relu(skip(z)[i] + sum over j of softmax_j(logit[i,j]) values(z)[j]))
//
// i listens, j speaks. K heads cut the H numbers of values (and of GATv2's sum) in K pieces, each
// with its own logits. GAT ranks its neighbours alike for every listener; GATv2, whose leaky
// relu stands before the last product, does not.
// Sources: Velickovic et al. 2018 (GAT), Brody et al. 2022 (GATv2).
#pragma once

#include "nn/processor.h"

namespace renar {

struct GatOptions {
  bool v2 = false;
  bool full = false;  ///< everybody hears everybody
};

/// Throws renar::UsageError unless options.heads divides options.hidden.
std::unique_ptr<Processor> make_gat(const Builder& builder, const ProcessorOptions& options,
                                    const GatOptions& gat);

}  // namespace renar
