// linear_max: y[b,j] = max over i of (x[b,i,j] W + bias), where adj allows; the last layer of the
// messages.
//
// x (B,N,N,K), W (K,H), bias (H), adj (B,N,N) or absent, y (B,N,H).
// Definition: sender_max(linear(x, W, bias), adj). Fused on the CPU, because a maximum passes
// gradient to its winner alone: backward touches B N H rows of products instead of B N N H. A
// device runs the definition. Throws where, while recording, only some of x, W and bias want a
// gradient.
#pragma once

#include "core/tape.h"

namespace renar {

Tensor linear_max(Tape& tape, Tensor x, Tensor w, Tensor bias, Tensor adj);

}  // namespace renar
