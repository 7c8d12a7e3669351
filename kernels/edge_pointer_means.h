// edge_pointer_means: what the encoder reads of edge pointers p (B,N,N,N), where edge (i,j) points
// at k.
//
//   y[b,j,k,0] = mean over i of p[b,i,j,k]                               y (B,N,N,2)
//   y[b,i,k,1] = mean over j of p[b,i,j,k]
//
// The reference encodes every number by a Linear of 1 and then takes the means of H features over
// the first axis, and of another Linear's over the second (docs/model.md 2). A mean of linear
// encodings is the encoding of the mean, so these two numbers an edge are all there is to encode.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor edge_pointer_means(Tape& tape, Tensor p);

/// The same of hard pointers on the CPU, target (N,N) of indices, into y (N,N,2); no gradient.
void edge_pointer_means_of(std::int64_t n, const Real* target, Real* y);

}  // namespace renar
