// The last layer of the pointer decoders (docs/model.md 4), with the maximum inside of it.
//
//   pointer_head:       y[b,j,k]   = bias + sum over c of w[c] max(point[b,j,c], target[b,k,j,c])
//       point (B,N,H) is p1; target (B,N,N,H) is p2[k] + p3[k,j], with the node that is pointed at
//       first; j points, k is pointed at; y (B,N,N)
//   edge_pointer_head:  y[b,i,j,k] = bias + sum over c of w[c] max(point[b,i,j,c], target[b,k,c])
//       point (B,N,N,H) is d1[i] + d2[j] + d3[i,j], target (B,N,H) is d4[k]; the edge (i,j) points;
//       y (B,N,N,N)
//
// w (H,1), bias (1). The maxima, (B,N,N,H) and (B,N,N,N,H), are never written; backward compares
// again. Equal ones share the gradient evenly. Both throw where only some inputs want a gradient.
// Definitions: linear(pointer_maximum(point, target), w, bias), read as (B,N,N), and the same with
// edge_pointer_maximum.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor pointer_head(Tape& tape, Tensor point, Tensor target, Tensor w, Tensor bias);
Tensor edge_pointer_head(Tape& tape, Tensor point, Tensor target, Tensor w, Tensor bias);

/// m[b,j,k] = max(point[b,j], target[b,k,j])   (B,N,N,H)
Tensor pointer_maximum(Tape& tape, Tensor point, Tensor target);
/// m[b,i,j,k] = max(point[b,i,j], target[b,k])   (B,N,N,N,H)
Tensor edge_pointer_maximum(Tape& tape, Tensor point, Tensor target);

}  // namespace renar
