// layer_norm by hand, its gradient, rows without variance.
#include "kernels/layer_norm.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::layer_norm_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

Tensor op(Tape& tape, const Inputs& in) { return layer_norm(tape, in[0], in[1], in[2]); }

TEST_CASE("layer_norm: by hand, the variance without Bessel's correction") {
  // x = (1, 3, 5, 7): mean 4, variance (9 + 1 + 1 + 9) / 4 = 5
  Numbers x({1, 4}, {1, 3, 5, 7}), scale({4}, {1, 1, 2, 1}), offset({4}, {0, 0, 0, 10});
  FreshTape fresh;
  const Tensor y = layer_norm(fresh.tape, x.tensor(), scale.tensor(), offset.tensor());
  const Real s = 1 / std::sqrt(Real(5 + 1e-5));
  test::check_values(y, {-3 * s, -s, 2 * s, 3 * s + 10}, test::kFloatBuild ? 2e-7 : 1e-15);
  test::run_backward(fresh.tape, y, {1, 0, 0, 0});
  // d = (1, 0, 0, 0), normal n = s (-3, -1, 1, 3): dx = s (d - (sum d + n (n . d)) / 4)
  const Real along = -3 * s;
  std::vector<Real> dx;
  for (const Real n : {-3 * s, -s, s, 3 * s}) {
    dx.push_back(s * ((dx.empty() ? 1 : 0) - (1 + n * along) / 4));
  }
  test::check_same("dx", x.grad(), dx, test::kFloatBuild ? 2e-7 : 1e-15);
  test::check_same("dscale", scale.grad(), {-3 * s, 0, 0, 0}, 1e-6);
  CHECK(offset.grad() == std::vector<Real>{1, 0, 0, 0});
}

TEST_CASE("layer_norm: a constant row gives the offset and a finite gradient") {
  Numbers x({2, 3}, {7, 7, 7, 0, 0, 0}), scale({3}, {1, 2, 3}), offset({3}, {4, 5, 6});
  FreshTape fresh;
  const Tensor y = layer_norm(fresh.tape, x.tensor(), scale.tensor(), offset.tensor());
  test::check_values(y, {4, 5, 6, 4, 5, 6}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4, 5, 6});
  for (const Real value : x.grad()) CHECK(std::isfinite(value));
  CHECK(scale.grad() == std::vector<Real>{0, 0, 0});
}

TEST_CASE("layer_norm: a large mean does not drown the variance") {
  Numbers x({1, 4}, {10001, 10003, 10005, 10007}), scale({4}, {1, 1, 1, 1}),
      offset({4}, {0, 0, 0, 0});
  FreshTape fresh;
  const Tensor y = layer_norm(fresh.tape, x.tensor(), scale.tensor(), offset.tensor());
  const Real s = 1 / std::sqrt(Real(5 + 1e-5));
  test::check_values(y, {-3 * s, -s, s, 3 * s}, 1e-6);
}

TEST_CASE("layer_norm: the kernels do as the definition") {
  for (const test::Extents& e : test::kExtents) {
    test::same_on_device(
        op, {.inputs = {Numbers::random({e.batch, e.nodes, e.hidden}, 1),
                        Numbers::random({e.hidden}, 2), Numbers::random({e.hidden}, 3)}});
  }
}

TEST_CASE("layer_norm: every row is normalised on its own") {
  for (const test::Extents& e : test::kExtents) {
    Numbers x = Numbers::random({e.batch, e.nodes, e.hidden}, 1);
    Numbers scale = Numbers::random({e.hidden}, 2), offset = Numbers::random({e.hidden}, 3);
    FreshTape fresh;
    const Tensor y = layer_norm(fresh.tape, x.tensor(), scale.tensor(), offset.tensor());
    std::vector<Real> want;
    for (std::int64_t r = 0; r < y.rows(); ++r) {
      const Real* row = x.data().data + r * e.hidden;
      double mean = 0, variance = 0;
      for (std::int64_t c = 0; c < e.hidden; ++c) mean += row[c] / static_cast<double>(e.hidden);
      for (std::int64_t c = 0; c < e.hidden; ++c) {
        variance += (row[c] - mean) * (row[c] - mean) / static_cast<double>(e.hidden);
      }
      for (std::int64_t c = 0; c < e.hidden; ++c) {
        want.push_back(
            static_cast<Real>(scale.data().data[c] * (row[c] - mean) / std::sqrt(variance + 1e-5) +
                              offset.data().data[c]));
      }
    }
    test::check_values(y, want);
  }
}

TEST_CASE("layer_norm: gradients" * doctest::skip(test::kFloatBuild)) {
  for (const std::int64_t h : {1, 3, 8, 33, 128}) {
    test::check_gradient(
        op, {Numbers::random({2, 3, h}, 1), Numbers::random({h}, 2), Numbers::random({h}, 3)});
  }
}

TEST_CASE("layer_norm: shapes that do not fit are refused") {
  Numbers x = Numbers::random({2, 3}, 1), a = Numbers::random({3}, 2), b = Numbers::random({2}, 3);
  FreshTape fresh;
  CHECK_THROWS_AS(layer_norm(fresh.tape, x.tensor(), a.tensor(), b.tensor()), Error);
  CHECK_THROWS_AS(layer_norm(fresh.tape, x.tensor(), b.tensor(), a.tensor()), Error);
}

}  // namespace
}  // namespace renar::layer_norm_test
