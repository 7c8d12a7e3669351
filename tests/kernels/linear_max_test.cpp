// linear_max against linear followed by sender_max.
#include "kernels/linear_max.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/check.h"
#include "kernels/linear.h"
#include "kernels/sender_max.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::linear_max_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

test::Op fused(const Tensor& adj) {
  return [adj](Tape& tape, const Inputs& in) { return linear_max(tape, in[0], in[1], in[2], adj); };
}
test::Op composed(const Tensor& adj) {
  return [adj](Tape& tape, const Inputs& in) {
    return sender_max(tape, linear(tape, {{in[0], in[1]}}, {in[2]}), adj);
  };
}

TEST_CASE("linear_max: by hand") {
  // x W + bias with W = (2, -1), bias = (1, 0); x[i,j] = (1, 3; 4, 2):
  //   channel 0: (3, 7; 9, 5), maxima over i (9, 7);  channel 1: (-1, -3; -4, -2), maxima (-1, -2)
  Numbers x({1, 2, 2, 1}, {1, 3, 4, 2}), w({1, 2}, {2, -1}), bias({2}, {1, 0});
  FreshTape fresh;
  const Tensor y = linear_max(fresh.tape, x.tensor(), w.tensor(), bias.tensor(), {});
  CHECK(y.shape == Shape{1, 2, 2});
  test::check_values(y, {9, -1, 7, -2}, 0);
  test::run_backward(fresh.tape, y, {1, 10, 100, 1000});
  CHECK(x.grad() == std::vector<Real>{-10, 200, 2, -1000});
  CHECK(w.grad() == std::vector<Real>{1 * 4 + 100 * 3, 10 * 1 + 1000 * 2});
  CHECK(bias.grad() == std::vector<Real>{101, 1010});
}

TEST_CASE("linear_max: equals its composition with and without edges") {
  for (const test::Extents& e : test::kExtents) {
    Numbers adj = test::random_adjacency(e.batch, e.nodes, 4);
    const std::vector<Numbers> inputs = {Numbers::random({e.batch, e.nodes, e.nodes, e.hidden}, 1),
                                         Numbers::random({e.hidden, e.hidden + 1}, 2),
                                         Numbers::random({e.hidden + 1}, 3)};
    test::same_value_and_gradient(fused({}), composed({}), inputs);
    test::same_value_and_gradient(fused(adj.data()), composed(adj.data()), inputs);
  }
}

TEST_CASE("linear_max: senders with equal rows tie exactly and share evenly") {
  for (const test::Extents& e : test::kExtents) {
    // All senders say the same to a receiver, as at the first step of a trajectory.
    const std::int64_t row = e.nodes * e.hidden;
    std::vector<Real> values;
    for (std::int64_t b = 0; b < e.batch; ++b) {
      const std::vector<Real> said = test::random_values(row, 5 + static_cast<std::uint64_t>(b));
      for (std::int64_t i = 0; i < e.nodes; ++i)
        values.insert(values.end(), said.begin(), said.end());
    }
    Numbers x({e.batch, e.nodes, e.nodes, e.hidden}, values);
    const std::vector<Numbers> inputs = {x, Numbers::random({e.hidden, 5}, 2),
                                         Numbers::random({5}, 3)};
    test::same_value_and_gradient(fused({}), composed({}), inputs);

    Numbers w = inputs[1], bias = inputs[2];
    FreshTape fresh;
    const Tensor y = linear_max(fresh.tape, x.tensor(), w.tensor(), bias.tensor(), {});
    test::run_backward(fresh.tape, y, test::random_values(y.size(), 6));
    const std::vector<Real> dx = x.grad();
    for (std::int64_t i = 1; i < e.nodes; ++i) {
      CHECK(std::equal(dx.begin(), dx.begin() + row, dx.begin() + i * row));
    }
  }
}

TEST_CASE("linear_max: the kernels do as the definition") {
  const test::Op all = [](Tape& tape, const Inputs& in) {
    return linear_max(tape, in[0], in[1], in[2], {});
  };
  const test::Op some = [](Tape& tape, const Inputs& in) {
    return linear_max(tape, in[0], in[1], in[2], in[3]);
  };
  for (const test::Extents& e : test::kExtents) {
    const Numbers adj = test::random_adjacency(e.batch, e.nodes, 4);
    const Shape edges{e.batch, e.nodes, e.nodes, 4};
    for (const auto& numbers : {Numbers::random, test::coarse}) {  // coarse: with ties
      const std::vector<Numbers> inputs = {numbers(edges, 1), numbers({4, e.hidden}, 2),
                                           numbers({e.hidden}, 3)};
      test::same_on_device(all, {.inputs = inputs});
      test::same_on_device(some, {.inputs = inputs, .constants = {adj}});
    }
  }
  test::same_on_device(some, {.inputs = {test::coarse({1, 5, 5, 128}, 1),
                                         test::coarse({128, 128}, 2), test::coarse({128}, 3)},
                              .constants = {test::random_adjacency(1, 5, 4)}});
}

TEST_CASE("linear_max: products below a missing edge lose to it, on the device too") {
  const Numbers x({1, 2, 2, 1}, {1, 3, 4, 2}), w({1, 2}, {2, 1}), bias({2}, {1, -2e6});
  const test::Op op = [](Tape& tape, const Inputs& in) {
    return linear_max(tape, in[0], in[1], in[2], in[3]);
  };
  test::same_on_device(op,
                       {.inputs = {x, w, bias}, .constants = {Numbers({1, 2, 2}, {1, 1, 0, 1})}});
}

TEST_CASE("linear_max: gradients" * doctest::skip(test::kFloatBuild)) {
  Numbers adj = test::random_adjacency(2, 5, 4);
  for (const Tensor& present : {Tensor{}, adj.data()}) {
    test::check_gradient(fused(present), {Numbers::random({2, 5, 5, 3}, 1),
                                          Numbers::random({3, 6}, 2), Numbers::random({6}, 3)});
  }
}

TEST_CASE("linear_max: shapes that do not fit are refused") {
  Numbers x = Numbers::random({1, 2, 2, 3}, 1), w = Numbers::random({3, 4}, 2);
  Numbers bias = Numbers::random({4}, 3), adj = Numbers::random({1, 2, 1}, 4);
  FreshTape fresh;
  Tape& tape = fresh.tape;
  CHECK_THROWS_AS(linear_max(tape, w.tensor(), w.tensor(), bias.tensor(), {}), Error);
  CHECK_THROWS_AS(linear_max(tape, x.tensor(), x.tensor(), bias.tensor(), {}), Error);
  CHECK_THROWS_AS(linear_max(tape, x.tensor(), w.tensor(), adj.tensor(), {}), Error);
  CHECK_THROWS_AS(linear_max(tape, x.tensor(), w.tensor(), bias.tensor(), adj.data()), Error);
  CHECK_THROWS_AS(linear_max(tape, x.tensor(), w.data(), bias.tensor(), {}), Error);
}

}  // namespace
}  // namespace renar::linear_max_test
