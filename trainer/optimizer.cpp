#include "trainer/optimizer.h"

#include <cmath>
#include <utility>

#include "core/check.h"
#include "kernels/adam.h"

namespace renar {

Optimizer::Optimizer(std::int64_t parameters, double learning_rate, double clip)
    : learning_rate_(learning_rate), clip_(clip) {
  state_.m.assign(static_cast<std::size_t>(parameters), Real{0});
  state_.v = state_.m;
}

void Optimizer::update(Parameters& parameters, const std::vector<Real>& grads) {
  const double norm = global_norm(grads.data(), parameters.size());
  RENAR_CHECK(std::isfinite(norm), "[optimizer] the gradient's norm is {}", norm);
  ++state_.steps;
  adam(parameters.size(),
       {.step = state_.steps,
        .learning_rate = learning_rate_,
        .grad_scale = clip_ > 0 && norm > clip_ ? clip_ / norm : 1.0},
       grads.data(), parameters.values(), state_.m.data(), state_.v.data());
}

void Optimizer::restore(OptimizerState state) {
  RENAR_CHECK(state.m.size() == state_.m.size() && state.v.size() == state_.v.size(),
              "[optimizer] moments of {} and {} numbers for {} parameters", state.m.size(),
              state.v.size(), state_.m.size());
  state_ = std::move(state);
}

}  // namespace renar
