// The optimizer: a step by hand, clipping, and a gradient that is not finite.
#include "trainer/optimizer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/check.h"
#include "tests/support.h"

namespace renar::optimizer_test {
namespace {

using Values = std::vector<Real>;

/// Three parameters and their optimizer.
struct Subject {
  explicit Subject(double clip) : optimizer(3, {0.1, clip}) {
    const Param x = parameters.add("x", {3});
    parameters.at(x)[0] = 1, parameters.at(x)[1] = 2, parameters.at(x)[2] = 3;
  }
  Values values() const { return {parameters.values(), parameters.values() + 3}; }

  Parameters parameters;
  Optimizer optimizer;
};

TEST_CASE("optimizer: the first step moves by the learning rate against each sign") {
  Subject s(0);
  s.optimizer.update(s.parameters, {4, 0, -0.5});
  test::check_same("parameters", s.values(), {0.9, 2, 3.1}, 1e-6);
  test::check_same("m", s.optimizer.state().m, {0.4, 0, -0.05}, 1e-6);
  test::check_same("v", s.optimizer.state().v, {0.016, 0, 0.00025}, 1e-6);
  CHECK(s.optimizer.state().steps == 1);
}

TEST_CASE("optimizer: only a gradient longer than the clip is scaled down to it") {
  Subject clipped(1), scaled(0), short_one(1), unclipped(0);
  clipped.optimizer.update(clipped.parameters, {6, 0, -8});  // of norm 10
  scaled.optimizer.update(scaled.parameters, {0.6, 0, -0.8});
  test::check_same("m", clipped.optimizer.state().m, scaled.optimizer.state().m, 1e-6);
  test::check_same("v", clipped.optimizer.state().v, scaled.optimizer.state().v, 1e-6);
  short_one.optimizer.update(short_one.parameters, {0.5, 0, 0.5});
  unclipped.optimizer.update(unclipped.parameters, {0.5, 0, 0.5});
  CHECK(short_one.optimizer.state().m == unclipped.optimizer.state().m);
}

TEST_CASE("optimizer: parameters that are not active keep their values and moments") {
  // The first is shared, the second is one task's, the third another's.
  Subject s(0), all(0);
  all.optimizer.update(all.parameters, {4, 2, -0.5});
  s.optimizer.update(s.parameters, {4, 2}, {.shared = 1, .begin = 1, .end = 2});
  CHECK(s.values() == Values{all.values()[0], all.values()[1], 3});
  CHECK(s.optimizer.state().m[1] == all.optimizer.state().m[1]);
  CHECK(s.optimizer.state().m[2] == 0);
  CHECK(s.optimizer.state().v[2] == 0);
  // The other task's first update is the second of all: its gradient stands beside the shared one.
  s.optimizer.update(s.parameters, {4, -0.5}, {.shared = 1, .begin = 2, .end = 3});
  CHECK(s.values()[1] == all.values()[1]);
  CHECK(s.optimizer.state().steps == 2);
  const double m = -0.05 / (1 - 0.81), v = 0.00025 / (1 - 0.998001);
  CHECK(static_cast<double>(s.values()[2]) ==
        doctest::Approx(3 - 0.1 * m / (std::sqrt(v) + 1e-8)).epsilon(1e-6));
}

#if defined(__SSE__)
TEST_CASE("optimizer: moments that have shrunk to subnormal numbers are zeros") {
  constexpr Real kSmallest = std::numeric_limits<Real>::min();
  Subject s(0);
  s.optimizer.update(s.parameters, {11 * kSmallest, 8 * kSmallest, 0});
  CHECK(s.optimizer.state().m[0] > kSmallest);
  CHECK(s.optimizer.state().m[1] == 0);
  for (int i = 0; i < 2; ++i) s.optimizer.update(s.parameters, {0, 0, 0});
  CHECK(s.optimizer.state().m[0] == 0);
}
#endif

TEST_CASE("optimizer: clipping looks at the active gradients alone") {
  Subject s(1), same(1);
  s.optimizer.update(s.parameters, {6, -8}, {.shared = 1, .begin = 2, .end = 3});
  same.optimizer.update(same.parameters, {6, 0, -8});
  CHECK(s.values() == same.values());
}

TEST_CASE("optimizer: a gradient that is not finite changes nothing") {
  for (const Real bad :
       {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
        -std::numeric_limits<Real>::infinity()}) {
    for (const double clip : {0.0, 1.0}) {
      Subject s(clip);
      s.optimizer.update(s.parameters, {1, 2, 3});
      const Values before = s.values();
      const OptimizerState state = s.optimizer.state();
      CHECK_THROWS_WITH_AS(
          s.optimizer.update(s.parameters, {1, bad, 1}),
          doctest::Contains("in update 1: training stopped; a smaller --lr may help"), Error);
      CHECK(s.values() == before);
      CHECK(s.optimizer.state().steps == state.steps);
      CHECK(s.optimizer.state().m == state.m);
      CHECK(s.optimizer.state().v == state.v);
    }
  }
}

TEST_CASE("optimizer: a restored state goes on to the bit; one of another size is refused") {
  Subject through(1), first(1), second(1);
  for (int step = 0; step < 4; ++step) {
    Subject& half = step < 2 ? first : second;
    if (step == 2) {
      std::copy_n(first.parameters.values(), 3, second.parameters.values());
      second.optimizer.restore(first.optimizer.state());
    }
    const Values grads = {static_cast<Real>(step), 1, -2};
    through.optimizer.update(through.parameters, grads);
    half.optimizer.update(half.parameters, grads);
  }
  CHECK(second.values() == through.values());
  CHECK_THROWS_AS(second.optimizer.restore({1, {0, 0}, {0, 0, 0}}), Error);
  CHECK_THROWS_AS(second.optimizer.restore({1, {0, 0, 0}, {0}}), Error);
}

}  // namespace
}  // namespace renar::optimizer_test
