// gated_update against sigmoid followed by mix.
#include "kernels/gated_update.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "kernels/pointwise.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::gated_update_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

Tensor fused(Tape& tape, const Inputs& in) { return gated_update(tape, in[0], in[1], in[2]); }
Tensor composed(Tape& tape, const Inputs& in) {
  return mix(tape, sigmoid(tape, in[0]), in[1], in[2]);
}

TEST_CASE("gated_update: by hand") {
  // logit ln 3: gate 3/4, y = 8 * 3/4 + 4 * 1/4 = 7, dlogit = (8 - 4) * 3/4 * 1/4 = 3/4
  // logit 0: gate 1/2, y = 1, dlogit = (0 - 2) * 1/4 = -1/2
  Numbers logit({2}, {std::log(Real{3}), 0}), fresh_value({2}, {8, 0}), old({2}, {4, 2});
  FreshTape fresh;
  gated_update(fresh.tape, logit.tensor(), fresh_value.tensor(), old.tensor());  // no gradient
  const Tensor y = gated_update(fresh.tape, logit.tensor(), fresh_value.tensor(), old.tensor());
  test::check_values(y, {7, 1}, 1e-6);
  test::run_backward(fresh.tape, y, {1, 1});
  test::check_same("dlogit", logit.grad(), {0.75, -0.5}, 1e-6);
  test::check_same("dfresh", fresh_value.grad(), {0.75, 0.5}, 1e-6);
  test::check_same("dold", old.grad(), {0.25, 0.5}, 1e-6);
}

TEST_CASE("mix: by hand") {
  // y = 8 * 3/4 + 4 * 1/4 = 7, dgate = 2 (8 - 4)
  Numbers gate({1}, {0.75}), fresh_value({1}, {8}), old({1}, {4});
  FreshTape fresh;
  mix(fresh.tape, gate.tensor(), fresh_value.tensor(), old.tensor());  // no gradient
  const Tensor y = mix(fresh.tape, gate.tensor(), fresh_value.tensor(), old.tensor());
  test::check_values(y, {7}, 0);
  test::run_backward(fresh.tape, y, {2});
  CHECK(gate.grad() == std::vector<Real>{8});
  CHECK(fresh_value.grad() == std::vector<Real>{1.5});
  CHECK(old.grad() == std::vector<Real>{0.5});
}

TEST_CASE("gated_update: a huge logit takes one side whole") {
  Numbers logit({2}, {500, -500}), fresh_value({2}, {8, 8}), old({2}, {4, 4});
  FreshTape fresh;
  const Tensor y = gated_update(fresh.tape, logit.tensor(), fresh_value.tensor(), old.tensor());
  test::check_values(y, {8, 4}, 0);
  test::run_backward(fresh.tape, y, {1, 1});
  test::check_same("dlogit", logit.grad(), {0, 0}, 1e-12);
}

TEST_CASE("gated_update: equals its composition") {
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.hidden};
    test::same_value_and_gradient(
        fused, composed,
        {Numbers::random(shape, 1), Numbers::random(shape, 2), Numbers::random(shape, 3)});
  }
}

TEST_CASE("gated_update: the kernels do as the definition, those of mix too") {
  const test::Op mixed = [](Tape& tape, const Inputs& in) {
    return mix(tape, in[0], in[1], in[2]);
  };
  const test::Op without_logit = [](Tape& tape, const Inputs& in) {
    return gated_update(tape, in[2], in[0], in[1]);
  };
  const test::Op without_sides = [](Tape& tape, const Inputs& in) {
    return add(tape, gated_update(tape, in[0], in[1], in[2]), mix(tape, in[0], in[1], in[2]));
  };
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.hidden};
    const Numbers a = Numbers::random(shape, 1), b = Numbers::random(shape, 2),
                  c = Numbers::random(shape, 3);
    test::same_on_device(fused, {.inputs = {a, b, c}});
    test::same_on_device(mixed, {.inputs = {a, b, c}});
    test::same_on_device(without_logit, {.inputs = {a, b}, .constants = {c}});
    test::same_on_device(without_sides, {.inputs = {a}, .constants = {b, c}});
  }
}

TEST_CASE("gated_update: inputs without gradient are left alone") {
  Numbers logit = Numbers::random({4}, 1), next = Numbers::random({4}, 2),
          old = Numbers::random({4}, 3);
  FreshTape fresh;
  const Tensor y = gated_update(fresh.tape, logit.tensor(), next.tensor(), old.data());
  test::run_backward(fresh.tape, y, {1, 1, 1, 1});
  CHECK(old.grad() == std::vector<Real>(4, 0));
  CHECK(next.grad() != std::vector<Real>(4, 0));
}

TEST_CASE("gated_update: gradients" * doctest::skip(test::kFloatBuild)) {
  const std::vector<Numbers> inputs = {Numbers::random({2, 3, 5}, 1), Numbers::random({2, 3, 5}, 2),
                                       Numbers::random({2, 3, 5}, 3)};
  test::check_gradient(fused, inputs);
  test::check_gradient([](Tape& tape, const Inputs& in) { return mix(tape, in[0], in[1], in[2]); },
                       inputs);
}

TEST_CASE("gated_update: shapes that differ are refused") {
  Numbers a = Numbers::random({2, 3}, 1), b = Numbers::random({3, 2}, 2);
  FreshTape fresh;
  for (const auto& op : {gated_update, mix}) {
    CHECK_THROWS_AS(op(fresh.tape, b.tensor(), a.tensor(), a.tensor()), Error);
    CHECK_THROWS_AS(op(fresh.tape, a.tensor(), a.tensor(), b.tensor()), Error);
  }
}

}  // namespace
}  // namespace renar::gated_update_test
