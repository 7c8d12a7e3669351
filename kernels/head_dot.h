// head_dot: y[r,k] = b_k + sum over f of x[r,kF+f] w_k[f]: attention's logits in GATv2.
//
// x (..,H), y (..,K): K heads, F = H / K numbers each.
// Source: Brody et al. 2022.
#pragma once

#include <span>

#include "core/tape.h"

namespace renar {

struct Head {
  Tensor w;  // (F,1)
  Tensor b;  // (1)
};

/// `heads` lives on the host as long as the tape's trajectory (Tape::host_array).
Tensor head_dot(Tape& tape, Tensor x, std::span<const Head> heads);

}  // namespace renar
