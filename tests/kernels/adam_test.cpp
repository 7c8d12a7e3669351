// Two steps of adam by hand, the clip factor, the norm.
#include "kernels/adam.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/support.h"

namespace renar {
namespace {

constexpr double kExact = test::kFloatBuild ? 2e-7 : 1e-14;

TEST_CASE("adam: two steps by hand") {
  // Gradient 2, then 1, learning rate 0.1, start at 1:
  //   t = 1: m = 0.1 * 2 = 0.2, v = 0.001 * 4 = 0.004; m / 0.1 = 2, v / 0.001 = 4: moves 0.1 * 2 /
  //   2 = 0.1 t = 2: m = 0.9 * 0.2 + 0.1 = 0.28, v = 0.999 * 0.004 + 0.001 = 0.004996
  //          m / (1 - 0.81) = 1.4736842..., v / (1 - 0.998001) = 2.4992496...
  std::vector<Real> values = {1}, m = {0}, v = {0}, grads = {2};
  adam(1, {.step = 1, .learning_rate = 0.1, .grad_scale = 1}, grads.data(), values.data(), m.data(),
       v.data());
  test::check_same("m", m, {Real(0.2)}, kExact);
  CHECK(static_cast<double>(v[0]) == doctest::Approx(0.004).epsilon(kExact));
  const double first = 1 - 0.1 * 2 / (2 + 1e-8);  // 0.9 but for the epsilon
  test::check_same("value", values, {static_cast<Real>(first)}, kExact);
  grads = {1};
  adam(1, {.step = 2, .learning_rate = 0.1, .grad_scale = 1}, grads.data(), values.data(), m.data(),
       v.data());
  test::check_same("m", m, {Real(0.28)}, kExact);
  CHECK(static_cast<double>(v[0]) == doctest::Approx(0.004996).epsilon(kExact));
  const double moved = 0.1 * (0.28 / 0.19) / (std::sqrt(0.004996 / 0.001999) + 1e-8);
  test::check_same("value", values, {static_cast<Real>(first - moved)}, kExact);
}

TEST_CASE("adam: the clip factor scales the gradient before the moments") {
  for (const std::int64_t size : {1, 7, 64, 1000}) {
    const std::vector<Real> grads = test::random_values(size, 1);
    std::vector<Real> halves = grads, values = test::random_values(size, 2), others = values;
    for (Real& g : halves) g /= 2;
    const std::size_t count = static_cast<std::size_t>(size);
    std::vector<Real> m(count), v(count), m2(count), v2(count);
    for (const std::int64_t step : {1, 2, 3}) {
      adam(size, {step, 0.01, 0.5}, grads.data(), values.data(), m.data(), v.data());
      adam(size, {step, 0.01, 1.0}, halves.data(), others.data(), m2.data(), v2.data());
    }
    CHECK(values == others);
    CHECK(m == m2);
    CHECK(v == v2);
  }
}

TEST_CASE("adam: a gradient of zero moves nothing, and the epsilon stands outside the root") {
  std::vector<Real> values = {3, 3}, m = {0, 0}, v = {0, 0}, grads = {0, Real(1e-8)};
  adam(2, {.step = 1, .learning_rate = 1, .grad_scale = 1}, grads.data(), values.data(), m.data(),
       v.data());
  CHECK(values[0] == 3);
  CHECK(static_cast<double>(values[1]) == doctest::Approx(2.5));  // 1e-8 / (1e-8 + 1e-8)
}

TEST_CASE("adam: the norm of (3, 4, 12) is 13") {
  const std::vector<Real> grads = {3, -4, 12};
  CHECK(global_norm(grads.data(), 3) == 13);
  CHECK(global_norm(grads.data(), 0) == 0);
  const std::vector<Real> large(1000000, Real(0.1));  // a sum of a million squares keeps its digits
  CHECK(global_norm(large.data(), 1000000) ==
        doctest::Approx(1000 * static_cast<double>(large[0])).epsilon(1e-9));
}

}  // namespace
}  // namespace renar
