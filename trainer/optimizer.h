// Adam with global-norm clipping and its state (MODEL.md 8; the arithmetic is kernels/adam.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/parameters.h"

namespace renar {

struct OptimizerState {
  std::int64_t steps = 0;  // updates made, of whichever parameters
  std::vector<Real> m, v;  // first and second moments, laid out like the parameters
};

class Optimizer {
 public:
  /// clip: largest global norm of a gradient, 0 for none. The first `frozen` parameters, the
  /// processor's, never move; their gradients count in the norm, as in the field's reference.
  Optimizer(std::int64_t parameters, double learning_rate, double clip, std::int64_t frozen = 0);

  /// Moves the active parameters one step against `grads`, which has just theirs; the others and
  /// their moments stay. Throws renar::Error, having changed nothing, where the gradient is not
  /// finite.
  void update(Parameters& parameters, const std::vector<Real>& grads,
              const ActiveParameters& active);
  /// The same where all are active.
  void update(Parameters& parameters, const std::vector<Real>& grads) {
    update(parameters, grads, parameters.all());
  }

  const OptimizerState& state() const { return state_; }
  /// Throws renar::Error where the sizes do not fit.
  void restore(OptimizerState state);

 private:
  double learning_rate_;
  double clip_;
  std::int64_t frozen_;
  OptimizerState state_;
};

}  // namespace renar
