// How far open something new is let in: sigmoid(g3(relu(g1(z) + g2(found)))), for each number of a
// row. Triplet-GMPNN gates its hidden state so (docs/model.md 3), ReNAR what its GNN found
// (docs/model.md 9).
#pragma once

#include <string>

#include "kernels/linear.h"
#include "nn/layers.h"

namespace renar {

struct Gate {
  Linear gate_1, gate_2, gate_3;
};

/// Parameters <name>/gate_1/.. to gate_3/..; z has `in` numbers. It starts almost closed.
Gate make_gate(const Builder& builder, const std::string& name, std::int64_t in,
               std::int64_t hidden);

/// What kernels/gated_update.h takes the sigmoid of. `z` are the terms of g1(z), without its bias.
Tensor gate_logit(Tape& tape, Terms z, Tensor found, const Gate& gate);

}  // namespace renar
