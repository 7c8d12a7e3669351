// node_max: the maximum over the nodes of a sample.
#include "kernels/node_max.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/check.h"
#include "tests/support_device.h"

namespace renar::node_max_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

Tensor op(Tape& tape, const Inputs& in) { return node_max(tape, in[0]); }

TEST_CASE("node_max: by hand; equal nodes share evenly") {
  // two samples of three nodes with two channels
  Numbers x({2, 3, 2}, {1, -5, 4, -2, 4, -3, 0, 7, -1, 7, -2, 7});
  FreshTape fresh;
  const Tensor y = node_max(fresh.tape, x.tensor());
  CHECK(y.shape == Shape{2, 2});
  test::check_values(y, {4, -2, 0, 7}, 0);
  test::run_backward(fresh.tape, y, {2, 3, 5, 6});
  test::check_same("dx", x.grad(), {0, 0, 1, 3, 1, 0, 5, 2, 0, 2, 0, 2}, 1e-6);
}

TEST_CASE("node_max: agrees with std::max") {
  for (const test::Extents& e : test::kExtents) {
    Numbers x = Numbers::random({e.batch, e.nodes, e.hidden}, 1);
    const Real* in = x.data().data;
    std::vector<Real> want;
    for (std::int64_t b = 0; b < e.batch; ++b) {
      for (std::int64_t c = 0; c < e.hidden; ++c) {
        Real best = in[b * e.nodes * e.hidden + c];
        for (std::int64_t n = 1; n < e.nodes; ++n) {
          best = std::max(best, in[(b * e.nodes + n) * e.hidden + c]);
        }
        want.push_back(best);
      }
    }
    FreshTape fresh;
    test::check_values(node_max(fresh.tape, x.tensor()), want, 0);
  }
}

TEST_CASE("node_max: the kernels do as the definition") {
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.hidden};
    test::same_on_device(op, {.inputs = {Numbers::random(shape, 1)}});
    test::same_on_device(op, {.inputs = {test::coarse(shape, 2)}});
  }
  test::same_on_device(op, {.inputs = {test::coarse({1, 64, 128}, 3)}});
  test::same_on_device(op, {.inputs = {test::coarse({2, 33, 24}, 4)}});
}

TEST_CASE("node_max: gradients" * doctest::skip(test::kFloatBuild)) {
  test::check_gradient(op, {Numbers::random({3, 5, 4}, 1)});
  test::check_gradient(op, {Numbers::random({1, 1, 3}, 2)});
}

TEST_CASE("node_max: a tensor of another rank is refused") {
  Numbers x = Numbers::random({3, 5}, 1);
  FreshTape fresh;
  CHECK_THROWS_AS(node_max(fresh.tape, x.tensor()), Error);
}

}  // namespace
}  // namespace renar::node_max_test
