// adam: one pass over flat buffers of parameters, moments and gradients (Kingma and Ba 2015).
//
//   m = b1 m + (1 - b1) g      v = b2 v + (1 - b2) g^2      p -= lr m / (1 - b1^t) / (sqrt(v / (1 -
//       b2^t)) + eps)
//   b1 = 0.9, b2 = 0.999, eps = 1e-8. g is first scaled so that the global norm is at most `clip`
//       (0: never).
#pragma once

#include "core/tensor.h"

namespace renar {

/// Euclidean norm over all `size` gradients, summed in double in one fixed order.
double global_norm(const Real* grads, std::int64_t size);

struct AdamStep {
  std::int64_t step;  ///< t, the first is 1
  double learning_rate;
  double grad_scale;  ///< min(1, clip / norm)
};

void adam(std::int64_t size, const AdamStep& settings, const Real* grads, Real* values, Real* m,
          Real* v);

}  // namespace renar
