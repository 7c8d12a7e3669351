// pointer_head: y[b,j,k] = bias + sum over c of w[c] max(point[b,j,c], target[b,k,j,c])
//
// The node-pointer decoder (MODEL.md 4): j points, k is pointed at. point (B,N,H) is p1; target
// (B,N,N,H) is p2[k] + p3[k,j], with the node that is pointed at first. w (H,1), bias (1), y
// (B,N,N). The (B,N,N,H) maximum is never written; backward compares again. Equal ones share the
// gradient evenly. Definition: linear(pointer_maximum(point, target), w, bias), read as (B,N,N).
#pragma once

#include "core/tape.h"

namespace renar {

Tensor pointer_head(Tape& tape, Tensor point, Tensor target, Tensor w, Tensor bias);

/// m[b,j,k] = max(point[b,j], target[b,k,j])   (B,N,N,H)
Tensor pointer_maximum(Tape& tape, Tensor point, Tensor target);

}  // namespace renar
