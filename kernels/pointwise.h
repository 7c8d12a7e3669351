// relu, leaky_relu, sigmoid, exponential: y = f(x) element by element. add: y = a + b.
#pragma once

#include <cmath>

#include "core/device_code.h"
#include "core/tape.h"

namespace renar {

/// 1 / (1 + e^-x), never overflowing.
RENAR_HOST_DEVICE inline Real sigmoid_of(Real x) {
  const Real e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

Tensor relu(Tape& tape, Tensor x);
/// x where x >= 0, else 0.01 x; the slope at 0 is 1.
Tensor leaky_relu(Tape& tape, Tensor x);
Tensor sigmoid(Tape& tape, Tensor x);
Tensor exponential(Tape& tape, Tensor x);
/// Throws renar::Error where the shapes differ.
Tensor add(Tape& tape, Tensor a, Tensor b);

}  // namespace renar
