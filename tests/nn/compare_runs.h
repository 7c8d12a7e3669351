// Two ways to judge a whole net: against its plain form, and its gradients against differences.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::test {

constexpr double kSame = kFloatBuild ? 2e-4 : 1e-9;

inline double largest_magnitude(const Real* x, std::int64_t count) {
  double most = 0;
  for (std::int64_t i = 0; i < count; ++i) most = std::max(most, std::abs(double{x[i]}));
  return most;
}

// Each parameter by its own largest gradient, so that a wrong one cannot hide behind a large one.
inline void check_same_gradients(const Net& net, const std::vector<Real>& got,
                                 const std::vector<Real>& want) {
  const double floor = 1e-3 * largest_magnitude(want.data(), net.parameters().size());
  for (const auto& [name, param] : net.parameters().entries()) {
    const Real *x = got.data() + param.offset, *y = want.data() + param.offset;
    const double scale = std::max(floor, largest_magnitude(y, param.shape.size()));
    double error = 0;
    for (std::int64_t i = 0; i < param.shape.size(); ++i) {
      const double e = std::abs(double{x[i]} - double{y[i]});
      if (!(e <= error)) error = std::isfinite(e) ? e : HUGE_VAL;
    }
    CHECK_MESSAGE(error <= kSame * scale, name, " differs by ", error, " of ", scale);
  }
}

inline void check_same_run(const Net& net, const Run& got, const Run& want) {
  for (std::size_t p = 0; p < net.spec().size(); ++p) {
    CAPTURE(net.spec()[p].name);
    CHECK(std::abs(got.losses[p] - want.losses[p]) <= kSame * (1e-3 + want.losses[p]));
    check_same("training", got.trained.values[p], want.trained.values[p], kSame);
    check_same("evaluation", got.evaluated.values[p], want.evaluated.values[p], kSame);
  }
  CHECK(std::abs(got.losses.reconstruction - want.losses.reconstruction) <=
        kSame * (1e-3 + want.losses.reconstruction));
  check_same_gradients(net, got.grads, want.grads);
}

inline Net net_for(const Batch& batch, const NetOptions& options) {
  Net net("x", *batch.spec, options);
  fill_embeddings(net.parameters());
  return net;
}

inline void compare_with_plain_form(const Batch& batch, NetOptions options) {
  options.exact = {.features_as_products = false, .fused_ops = false};
  const Net plain = net_for(batch, options);
  const Run want = run(plain, batch);
  CHECK(total(want.losses) >= 0);
  for (const ExactAlgebra exact : {ExactAlgebra{true, false}, {false, true}, {true, true}}) {
    CAPTURE(exact.features_as_products);
    CAPTURE(exact.fused_ops);
    options.exact = exact;
    check_same_run(plain, run(net_for(batch, options), batch), want);
  }
}

/// `start`: what the parts of a chunk go on from.
inline void check_with_differences(const Batch& batch, const NetOptions& options,
                                   const std::vector<Real>& start = {}) {
  Net net = net_for(batch, options);
  // Biases of 0 put many a relu exactly on its kink, and a node that layer norm leaves at an offset
  // of 0 exactly beside those that dropout has made 0, in a maximum over nodes.
  for (const auto& [name, param] : net.parameters().entries()) {
    if (!name.ends_with("/b") && !name.ends_with("/offset")) continue;
    const std::vector<Real> away = random_values(param.shape.size(), name.size());
    std::transform(away.begin(), away.end(), net.parameters().at(param),
                   [](Real x) { return x / 10; });
  }
  ShardRunner runner(1);
  std::vector<Real> grads, ignored;
  const auto loss_and_gradients = [&](std::vector<Real>& to) {
    CarriedState carried(start);
    return total(runner.gradients(net, batch, to, {}, nullptr, &carried));
  };
  // What is left of a loss's own rounding after division by 2e-6.
  const double rounding = 3e-8 + 2e-9 * loss_and_gradients(grads);
  for (const auto& [name, param] : net.parameters().entries()) {
    const std::int64_t size = param.shape.size(), stride = std::max<std::int64_t>(1, size / 3);
    for (std::int64_t i = 0; i < size; i += stride) {
      Real& x = net.parameters().at(param)[i];
      const Real middle = x;
      x = middle + Real(1e-6);
      const double up = loss_and_gradients(ignored);
      x = middle - Real(1e-6);
      const double down = loss_and_gradients(ignored);
      x = middle;
      const double want = (up - down) / 2e-6, got = double{grads[param.offset + i]};
      CHECK_MESSAGE(std::abs(got - want) <= 1e-5 * std::abs(want) + rounding,
                    options.processor.kind, ": ", name, "[", i, "] is ", got, ", by differences ",
                    want);
    }
  }
}

}  // namespace renar::test
