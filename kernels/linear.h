// linear:       y[r] = sum over terms x_t[r] W_t + biases                      (.., O)
// edge_linear:  y[b,i,j] = send[b,i] + recv[b,j] + sum over terms x_t[b,i,j] W_t + biases
//               (B,N,N,O)
//
// A term is x (.., K) with W (K, O); the terms of one sum differ in K. So [node_fts, hidden] W is
// the two terms {node_fts, first rows of W} and {hidden, last rows of W} and nothing is
// concatenated; a feature S V (nn/features.h) is the term {S, V W}. relu may follow. send and recv
// (B,N,O) may be absent.
#pragma once

#include "core/short_list.h"
#include "core/tape.h"
#include "kernels/products.h"

namespace renar {

struct Term {
  Tensor x;
  Tensor w;
};

enum class Activation { kNone, kRelu };

using Terms = ShortList<Term, kMaxTerms>;
using Biases = ShortList<Tensor, kMaxTerms>;

/// Throws renar::Error where extents do not fit.
Tensor linear(Tape& tape, const Terms& terms, const Biases& biases,
              Activation activation = Activation::kNone);

/// `send` is indexed by the first node axis, `recv` by the second.
Tensor edge_linear(Tape& tape, Tensor send, Tensor recv, const Terms& terms, const Biases& biases,
                   Activation activation = Activation::kNone);

}  // namespace renar
