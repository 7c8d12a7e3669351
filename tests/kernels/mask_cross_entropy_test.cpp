// mask_cross_entropy by hand, masked truths, huge logits, gradient.
#include "kernels/mask_cross_entropy.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::mask_cross_entropy_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("mask_cross_entropy: by hand; a truth of -1 is skipped") {
  // logit ln 3, probability 3/4: truth 1 costs ln 4/3, truth 0 costs ln 4.  logit 0, truth 1: ln 2.
  const Real ln3 = std::log(Real{3});
  Numbers logits({4}, {ln3, ln3, 0, 50});
  const std::vector<Real> truth = {1, 0, 1, -1};
  FreshTape fresh;
  double sum = 100;
  mask_cross_entropy(fresh.tape, logits.tensor(), truth.data(), test::sent(fresh.tape, 2), sum);
  CHECK(
      sum ==
      doctest::Approx(100 + 2 * (std::log(4.0 / 3) + std::log(4.0) + std::log(2.0))).epsilon(1e-7));
  mask_cross_entropy(fresh.tape, logits.tensor(), truth.data(), test::sent(fresh.tape, 2), sum);
  fresh.tape.backward();
  // Twice 2 (probability - truth): gradients add up.
  test::check_same("dx", logits.grad(), {-1, 3, -2, 0}, 1e-6);
  CHECK(logits.grad()[3] == 0);
}

TEST_CASE("mask_cross_entropy: huge logits give their size or nothing, never infinity") {
  Numbers logits({4}, {1e30, 1e30, -1e30, -1e30});
  const std::vector<Real> truth = {1, 0, 1, 0};
  FreshTape fresh;
  double sum = 0;
  mask_cross_entropy(fresh.tape, logits.tensor(), truth.data(), test::sent(fresh.tape, 1), sum);
  CHECK(sum == doctest::Approx(2e30));
  fresh.tape.backward();
  CHECK(logits.grad() == std::vector<Real>{0, 1, -1, 0});
}

TEST_CASE("mask_cross_entropy: the kernels do as the definition") {
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.hidden};
    std::vector<Real> truth;
    for (int i = 0; i < shape.size(); ++i) truth.push_back(static_cast<Real>(i % 3 - 1));
    test::same_loss_on_device(
        [](Tape& tape, const Inputs& in, double& sum) {
          mask_cross_entropy(tape, in[0], in[1].data, test::sent(tape, Real{0.3}),
                             test::open_sum(tape, sum, in[0].size()));
        },
        {.inputs = {Numbers::random(shape, 1)}, .constants = {Numbers(shape, truth)}});
  }
}

TEST_CASE("mask_cross_entropy: gradient" * doctest::skip(test::kFloatBuild)) {
  std::vector<Real> truth;
  for (int i = 0; i < 40; ++i) truth.push_back(static_cast<Real>(i % 3 - 1));
  test::check_loss_gradient(
      [&](Tape& tape, const Inputs& in, double& sum) {
        mask_cross_entropy(tape, in[0], truth.data(), test::sent(tape, Real{0.3}), sum);
      },
      {Numbers::random({8, 5}, 1)});
}

}  // namespace
}  // namespace renar::mask_cross_entropy_test
