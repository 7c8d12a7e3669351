// Adam with global-norm clipping and its state (docs/model.md 8; the arithmetic is kernels/adam.h),
// on the host. The same on a device is in trainer/net_in_training.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parameters.h"

namespace renar {

struct OptimizerState {
  std::int64_t steps = 0;  // updates made, of whichever parameters
  std::vector<Real> m, v;  // first and second moments, laid out like the parameters
};

struct OptimizerOptions {
  double learning_rate;
  double clip = 0;  ///< largest global norm of a gradient, 0 for none
  /// The first so many parameters, the processor's, never move; their gradients count in the norm,
  /// as in the field's reference.
  std::int64_t frozen = 0;
};

/// Throws renar::Error unless the gradient's norm is finite, and names the update.
void check_norm(double norm, std::int64_t update);

class Optimizer {
 public:
  Optimizer(std::int64_t parameters, const OptimizerOptions& options);

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
  OptimizerOptions options_;
  OptimizerState state_;
};

}  // namespace renar
