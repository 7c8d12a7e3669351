// triplet_max: the best triplet of each edge; all are (B,N,N,F)
//
//   y[b,j,k] = rest[b,j,k] + max over i of (left[b,i,j] + right[b,i,k])
//
// The triplet messages of Dudzik and Velickovic (2022) in the order of docs/model.md 3: everything
// that does not depend on i is in `rest`, so the maximum is a max-plus product and the (B,N,N,N,F)
// tensor of the reference never exists. Definition: sender_max over i of triplet_sum. Equal maxima
// share the gradient evenly. triplet_max throws where only some of the three want a gradient.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor triplet_max(Tape& tape, Tensor left, Tensor right, Tensor rest);

/// t[b,i,j,k] = left[b,i,j] + right[b,i,k] + rest[b,j,k]   (B,N,N,N,F)
Tensor triplet_sum(Tape& tape, Tensor left, Tensor right, Tensor rest);

}  // namespace renar
