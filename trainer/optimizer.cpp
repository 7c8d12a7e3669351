#include "trainer/optimizer.h"

#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/profile.h"
#include "core/subnormals.h"
#include "kernels/adam.h"

namespace renar {

Optimizer::Optimizer(std::int64_t parameters, const OptimizerOptions& options) : options_(options) {
  state_.m.assign(static_cast<std::size_t>(parameters), Real{0});
  state_.v = state_.m;
}

void check_norm(double norm, std::int64_t update) {
  RENAR_CHECK(std::isfinite(norm),
              "[optimizer] the gradient's norm is {} in update {}: training stopped; a smaller "
              "--lr may help",
              norm, update);
}

void Optimizer::update(Parameters& parameters, const std::vector<Real>& grads,
                       const ActiveParameters& active) {
  const ProfileRange range("optimizer");
  const FlushSubnormals flush;
  Clip clip;
  measure_clip(Device::kCpu, active.size(), grads.data(), {.max_norm = options_.clip}, nullptr,
               &clip);
  check_norm(clip.norm, state_.steps);
  const AdamFactors factors =
      adam_factors({.step = ++state_.steps, .learning_rate = options_.learning_rate});
  const auto move = [&](std::int64_t begin, std::int64_t end) {
    clipped_adam(Device::kCpu, end - begin, &factors, &clip, grads.data() + active.place(begin),
                 parameters.values() + begin, state_.m.data() + begin, state_.v.data() + begin);
  };
  move(options_.frozen, active.shared);
  move(active.begin, active.end);
}

void Optimizer::restore(OptimizerState state) {
  RENAR_CHECK(state.m.size() == state_.m.size() && state.v.size() == state_.v.size(),
              "[optimizer] moments of {} and {} numbers for {} parameters", state.m.size(),
              state.v.size(), state_.m.size());
  state_ = std::move(state);
}

}  // namespace renar
