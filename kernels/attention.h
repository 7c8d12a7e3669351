// Multi-head attention over the nodes, in two pieces. K heads, F = H / K numbers each.
//
// attention_weights: p[b,i,j,k] = softmax over j of logit[b,i,j,k], over whom i hears   (B,N,N,K)
// attend:            y[b,i,kF+f] = onto[b,i,kF+f] + sum over j of p[b,i,j,k] value[b,j,kF+f]
//
// Here the first node axis listens and the second sends, the other way round than in sender_max.
// The reference adds (adj - 1) 1e9 to the logits: a non-edge weighs exactly 0 beside any edge, and
// where i hears nobody the 1e9 is common to all of its row and cancels, so it hears all alike.
// Sources: Velickovic et al. 2018 (GAT); dm-clrs, GAT, GATv2.
#pragma once

#include "core/tape.h"

namespace renar {

/// logits (B,N,N,K), adj (B,N,N) of 0 / 1 or absent (all ones).
Tensor attention_weights(Tape& tape, Tensor logits, Tensor adj);

/// weights (B,N,N,K), values and onto (B,N,H); onto may be absent.
Tensor attend(Tape& tape, Tensor weights, Tensor values, Tensor onto);

}  // namespace renar
