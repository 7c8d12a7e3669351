// log_sinkhorn: the logits of a permutation to the logarithm of a doubly stochastic matrix.
//
//   x = (logits + noise) / 0.1, less 1e6 on the diagonal         logits, noise, x (B,N,N)
//   `rounds` times:  x[i,j] -= log sum over j of exp x[i,j]      rows sum to 1,
//                    x[i,j] -= log sum over i of exp x[i,j]      then columns
//
// The decoder of permutation pointers (docs/model.md 4 and 5): row i is whom node i points to, and
// the cyclic permutations that the pipeline makes have nothing on the diagonal. A node alone has no
// choice: log 1. Backward walks all the rounds, so the 2 `rounds` matrices between them are kept
// while recording: y = x - log sum exp x passes dx = dy - exp(y) sum of dy.
//
// Source: Mena et al. 2018, Learning Latent Permutations with Gumbel-Sinkhorn Networks.
#pragma once

#include "core/tape.h"

namespace renar {

/// `noise`, without gradient, may be absent. 0 rounds only scale.
Tensor log_sinkhorn(Tape& tape, Tensor logits, int rounds, Tensor noise = {});

/// The values alone, of one matrix and without noise, on the CPU. y may be logits.
void log_sinkhorn_of(std::int64_t n, int rounds, const Real* logits, Real* y);

}  // namespace renar
