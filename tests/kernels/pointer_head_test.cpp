// The two pointer heads against the written-out maximum followed by a linear.
#include "kernels/pointer_head.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/check.h"
#include "kernels/linear.h"
#include "tests/support_device.h"

namespace renar::pointer_head_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

Tensor fused(Tape& tape, const Inputs& in) {
  return pointer_head(tape, in[0], in[1], in[2], in[3]);
}
Tensor composed(Tape& tape, const Inputs& in) {
  const std::int64_t batch = in[0].dim(0), n = in[0].dim(1);
  const Tensor larger = pointer_maximum(tape, in[0], in[1]);
  return linear(tape, {{larger, in[2]}}, {in[3]}).reshaped({batch, n, n});
}

// Gives point and target random numbers from `random`, w and bias normal ones.
template <class Random>
std::vector<Numbers> inputs_of(const test::Extents& e, const Random& random) {
  return {random({e.batch, e.nodes, e.hidden}, 1), random({e.batch, e.nodes, e.nodes, e.hidden}, 2),
          Numbers::random({e.hidden, 1}, 3), Numbers::random({1}, 4)};
}

TEST_CASE("pointer_head: by hand, the pointed-at node first in target, with a tie") {
  // point[j] = (3, 5), target[k,j] = (1, 9; 3, 4), w = 2, bias = 0.5
  // y[0,0] = 2 max(3, target[0,0] = 1) + 0.5 = 6.5    y[0,1] = 2 max(3, target[1,0] = 3) + 0.5
  // = 6.5 y[1,0] = 2 max(5, target[0,1] = 9) + 0.5 = 18.5   y[1,1] = 2 max(5, target[1,1] = 4) +
  // 0.5 = 10.5
  Numbers point({1, 2, 1}, {3, 5}), target({1, 2, 2, 1}, {1, 9, 3, 4});
  Numbers w({1, 1}, {2}), bias({1}, {0.5});
  FreshTape fresh;
  const Tensor y =
      pointer_head(fresh.tape, point.tensor(), target.tensor(), w.tensor(), bias.tensor());
  CHECK(y.shape == Shape{1, 2, 2});
  test::check_values(y, {6.5, 6.5, 18.5, 10.5}, 0);
  test::run_backward(fresh.tape, y, {1, 10, 100, 1000});
  CHECK(point.grad() == std::vector<Real>{2 * 1 + 2 * 5, 2000});  // half of the tie's 2 * 10
  CHECK(target.grad() == std::vector<Real>{0, 200, 10, 0});
  CHECK(w.grad() == std::vector<Real>{3 * 1 + 3 * 10 + 9 * 100 + 5 * 1000});
  CHECK(bias.grad() == std::vector<Real>{1111});
}

TEST_CASE("pointer_head: equals its composition") {
  for (const test::Extents& e : test::kExtents) {
    test::same_value_and_gradient(fused, composed, inputs_of(e, Numbers::random));
  }
}

TEST_CASE("pointer_head: ties give half to each side, as in its composition") {
  for (const test::Extents& e : test::kExtents) {
    test::same_value_and_gradient(fused, composed, inputs_of(e, test::coarse));
  }
}

TEST_CASE("pointer_head: gradients, ties included" * doctest::skip(test::kFloatBuild)) {
  // A central difference across the kink of two equal numbers is half of the slope: the same even
  // split.
  for (const test::Extents& e : {test::Extents{2, 3, 4}, test::Extents{1, 2, 37}}) {
    for (const auto& op : {fused, composed}) {
      test::check_gradient(op, inputs_of(e, Numbers::random));
      test::check_gradient(op, inputs_of(e, test::coarse));
    }
  }
}

Tensor edge_fused(Tape& tape, const Inputs& in) {
  return edge_pointer_head(tape, in[0], in[1], in[2], in[3]);
}
Tensor edge_composed(Tape& tape, const Inputs& in) {
  const std::int64_t batch = in[0].dim(0), n = in[0].dim(1);
  const Tensor larger = edge_pointer_maximum(tape, in[0], in[1]);
  return linear(tape, {{larger, in[2]}}, {in[3]}).reshaped({batch, n, n, n});
}

template <class Random>
std::vector<Numbers> edge_inputs_of(const test::Extents& e, const Random& random) {
  return {random({e.batch, e.nodes, e.nodes, e.hidden}, 1), random({e.batch, e.nodes, e.hidden}, 2),
          Numbers::random({e.hidden, 1}, 3), Numbers::random({1}, 4)};
}

TEST_CASE("edge_pointer_head: by hand, with a tie") {
  // point[i,j] = (3, 5; 1, 7), target[k] = (5, 2), w = 2, bias = 0.5:
  // 2 max(3, 5) + 0.5, 2 max(3, 2) + 0.5; 2 max(5, 5) + 0.5, 2 max(5, 2) + 0.5; and so on
  Numbers point({1, 2, 2, 1}, {3, 5, 1, 7}), target({1, 2, 1}, {5, 2});
  Numbers w({1, 1}, {2}), bias({1}, {0.5});
  FreshTape fresh;
  const Tensor y =
      edge_pointer_head(fresh.tape, point.tensor(), target.tensor(), w.tensor(), bias.tensor());
  CHECK(y.shape == Shape{1, 2, 2, 2});
  test::check_values(y, {10.5, 6.5, 10.5, 10.5, 10.5, 4.5, 14.5, 14.5}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 4, 8, 16, 32, 64, 128});
  CHECK(point.grad() == std::vector<Real>{4, 4 + 16, 0, 128 + 256});  // half of the tie's 2 * 4
  CHECK(target.grad() == std::vector<Real>{2 + 4 + 32, 64});
  CHECK(w.grad() ==
        std::vector<Real>{5 + 3 * 2 + 5 * 4 + 5 * 8 + 5 * 16 + 2 * 32 + 7 * 64 + 7 * 128});
  CHECK(bias.grad() == std::vector<Real>{255});
}

TEST_CASE("edge_pointer_head: equals its composition, ties included") {
  for (const test::Extents& e : test::kExtents) {
    test::same_value_and_gradient(edge_fused, edge_composed, edge_inputs_of(e, Numbers::random));
    test::same_value_and_gradient(edge_fused, edge_composed, edge_inputs_of(e, test::coarse));
  }
}

TEST_CASE("edge_pointer_head: gradients, ties included" * doctest::skip(test::kFloatBuild)) {
  for (const test::Extents& e : {test::Extents{2, 3, 4}, test::Extents{1, 2, 37}}) {
    for (const auto& op : {edge_fused, edge_composed}) {
      test::check_gradient(op, edge_inputs_of(e, Numbers::random));
      test::check_gradient(op, edge_inputs_of(e, test::coarse));
    }
  }
}

// The sizes at which kernels are tried.
const std::vector<test::Extents> kKernelExtents = {{1, 1, 1},  {3, 1, 8},  {1, 2, 3},   {2, 3, 33},
                                                   {1, 5, 16}, {3, 5, 24}, {1, 3, 128}, {1, 9, 5}};

TEST_CASE("pointer_head: the kernels do as the definition") {
  std::vector<test::Extents> extents = kKernelExtents;
  extents.insert(extents.end(), {{1, 20, 33}, {2, 16, 16}, {1, 33, 3}});
  for (const test::Extents& e : extents) {
    for (const auto& random : {Numbers::random, test::coarse}) {
      test::same_on_device(fused, {.inputs = inputs_of(e, random)});
    }
  }
  test::same_on_device(fused, {.inputs = {}, .constants = inputs_of({1, 64, 3}, test::coarse)});
}

TEST_CASE("pointer_head: the last block's warps without a logit write nothing") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  FreshTape fresh(Tape::Mode::kPredict, *device);
  Inputs in;
  std::vector<Numbers> inputs = inputs_of({1, 3, 8}, Numbers::random);
  for (Numbers& each : inputs) {
    const std::vector<Real> values = each.values();
    in.push_back(fresh.tape.host_constant(each.shape()));
    std::copy(values.begin(), values.end(), in.back().data);
    in.back() = fresh.tape.send(in.back());
  }
  constexpr std::int64_t kLogits = 9, kLine = 16;  // memory starts as NaN
  const Real* y = fresh.tape.fetch(fused(fresh.tape, in).data, kLine);
  CHECK(std::none_of(y, y + kLogits, [](Real x) { return std::isnan(x); }));
  CHECK(std::all_of(y + kLogits, y + kLine, [](Real x) { return std::isnan(x); }));
}

TEST_CASE("edge_pointer_head: the kernels do as the definition") {
  std::vector<test::Extents> extents = kKernelExtents;
  extents.push_back({1, 16, 3});
  for (const test::Extents& e : extents) {
    for (const auto& random : {Numbers::random, test::coarse}) {
      test::same_on_device(edge_fused, {.inputs = edge_inputs_of(e, random)});
    }
  }
}

TEST_CASE("pointer_head, edge_pointer_head: no barrier can be left out") {
  test::needs_every_barrier(fused, {.inputs = inputs_of({2, 7, 33}, Numbers::random)});
  test::needs_every_barrier(edge_fused, {.inputs = edge_inputs_of({2, 5, 33}, Numbers::random)});
}

TEST_CASE("pointer_maximum, edge_pointer_maximum: the kernels do as the definition") {
  const auto larger = [](Tape& tape, const Inputs& in) {
    return pointer_maximum(tape, in[0], in[1]);
  };
  const auto edge_larger = [](Tape& tape, const Inputs& in) {
    return edge_pointer_maximum(tape, in[0], in[1]);
  };
  for (const test::Extents& e : kKernelExtents) {
    std::vector<Numbers> inputs = inputs_of(e, test::coarse);
    std::vector<Numbers> edge_inputs = edge_inputs_of(e, test::coarse);
    test::same_on_device(larger, {.inputs = {inputs[0], inputs[1]}});
    test::same_on_device(edge_larger, {.inputs = {edge_inputs[0], edge_inputs[1]}});
  }
}

TEST_CASE(
    "pointer_head: shapes that do not fit are refused, and so are gradients for some inputs") {
  Numbers point = Numbers::random({1, 2, 3}, 1), target = Numbers::random({1, 2, 2, 3}, 2);
  Numbers w = Numbers::random({3, 1}, 3), bias = Numbers::random({1}, 4);
  const Tensor p = point.tensor(), t = target.tensor();
  FreshTape fresh;
  Tape& tape = fresh.tape;
  CHECK_THROWS_AS(pointer_head(tape, t, t, w.tensor(), bias.tensor()), Error);
  CHECK_THROWS_AS(pointer_head(tape, p, p, w.tensor(), bias.tensor()), Error);
  CHECK_THROWS_AS(pointer_head(tape, p, t, bias.tensor(), bias.tensor()), Error);
  CHECK_THROWS_AS(pointer_head(tape, p, t, w.tensor(), w.tensor()), Error);
  CHECK_THROWS_AS(pointer_head(tape, p, t, w.data(), bias.tensor()), Error);
  CHECK_THROWS_AS(pointer_maximum(tape, p, p), Error);
  CHECK_THROWS_AS(pointer_maximum(tape, p, target.data()), Error);
  CHECK_THROWS_AS(edge_pointer_head(tape, p, p, w.tensor(), bias.tensor()), Error);
  CHECK_THROWS_AS(edge_pointer_head(tape, p, t, w.tensor(), bias.tensor()), Error);
  CHECK_THROWS_AS(edge_pointer_head(tape, t, p, bias.tensor(), bias.tensor()), Error);
  CHECK_THROWS_AS(edge_pointer_head(tape, t, p, w.tensor(), bias.data()), Error);
  CHECK_THROWS_AS(edge_pointer_maximum(tape, p, p), Error);
  CHECK_THROWS_AS(edge_pointer_maximum(tape, t, point.data()), Error);
}

}  // namespace
}  // namespace renar::pointer_head_test
