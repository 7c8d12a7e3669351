// columns * stack is the sum of the linear encodings.
#include "kernels/columns.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "kernels/linear.h"
#include "tests/kernels/edge_add.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::columns_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("columns: by hand; a source of fewer rows is repeated, the last column is ones") {
  Numbers a({4, 1}, {1, 2, 3, 4}), b({2, 2}, {10, 20, 30, 40});
  FreshTape fresh;
  const Tensor y = columns(fresh.tape, 4, {a.tensor(), b.tensor()});
  CHECK(y.shape == Shape{4, 4});
  test::check_values(y, {1, 10, 20, 1, 2, 10, 20, 1, 3, 30, 40, 1, 4, 30, 40, 1}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 9, 99, 10, 11, 12, 99});
  CHECK(a.grad() == std::vector<Real>{1, 4, 7, 10});
  CHECK(b.grad() == std::vector<Real>{2 + 5, 3 + 6, 8 + 11, 9 + 12});
}

TEST_CASE("stack: by hand; biases are summed in the last row") {
  Numbers w({2, 2}, {1, 2, 3, 4}), v({1, 2}, {5, 6}), a({2}, {10, 20}), b({2}, {1, 2});
  FreshTape fresh;
  const Tensor y = stack(fresh.tape, 2, {w.tensor(), v.tensor()}, {a.tensor(), b.tensor()});
  CHECK(y.shape == Shape{4, 2});
  test::check_values(y, {1, 2, 3, 4, 5, 6, 11, 22}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(w.grad() == std::vector<Real>{1, 2, 3, 4});
  CHECK(v.grad() == std::vector<Real>{5, 6});
  CHECK(a.grad() == std::vector<Real>{7, 8});
  CHECK(b.grad() == std::vector<Real>{7, 8});
}

TEST_CASE("columns: times stack is the sum of the encodings") {
  // Edges (B N N, 2) and nodes (B N, 1), each spread over its row of edges.
  for (const test::Extents& e : test::kExtents) {
    const std::int64_t nodes = e.batch * e.nodes, edges = nodes * e.nodes;
    test::same_value_and_gradient(
        [&](Tape& tape, const Inputs& in) {
          const Tensor raw = columns(tape, edges, {in[0], in[1]});
          const Tensor weights = stack(tape, e.hidden, {in[2], in[3]}, {in[4], in[5]});
          return linear(tape, {{raw, weights}}, {}).reshaped({e.batch, e.nodes, e.nodes, e.hidden});
        },
        [&](Tape& tape, const Inputs& in) {
          const Tensor own = linear(tape, {{in[0], in[2]}}, {in[4]});
          const Tensor sent = linear(tape, {{in[1], in[3]}}, {in[5]});
          return test::edge_add(tape, sent.reshaped({e.batch, e.nodes, e.hidden}), {},
                                own.reshaped({e.batch, e.nodes, e.nodes, e.hidden}));
        },
        {Numbers::random({edges, 2}, 1), Numbers::random({nodes, 1}, 2),
         Numbers::random({2, e.hidden}, 3), Numbers::random({1, e.hidden}, 4),
         Numbers::random({e.hidden}, 5), Numbers::random({e.hidden}, 6)});
  }
}

TEST_CASE("columns: the kernels do as the definition") {
  // Of edges, of nodes (with and without a gradient) and of graphs: repeated 1, N and N N times.
  const test::Op op = [](Tape& tape, const Inputs& in) {
    const std::int64_t edges = in[0].rows();
    return columns(tape, edges, {in[0], in[1], in[3], in[2], in[4]});
  };
  for (const test::Extents& e : test::kExtents) {
    const std::int64_t nodes = e.batch * e.nodes, edges = nodes * e.nodes;
    test::same_on_device(
        op, {.inputs = {Numbers::random({edges, 2}, 1), Numbers::random({nodes, 1}, 2),
                        Numbers::random({e.batch, 3}, 3)},
             .constants = {Numbers::random({nodes, 2}, 4), Numbers::random({edges, 1}, 5)}});
  }
  test::same_on_device([](Tape& tape, const Inputs&) { return columns(tape, 5, {}); },
                       {.inputs = {}});
}

TEST_CASE("stack: the kernels do as the definition") {
  for (const std::int64_t h : {1, 3, 8, 33, 128}) {
    const test::Op op = [&](Tape& tape, const Inputs& in) {
      return stack(tape, h, {in[0], in[3], in[1]}, {in[2], in[4]});
    };
    test::same_on_device(op, {.inputs = {Numbers::random({2, h}, 1), Numbers::random({1, h}, 2),
                                         Numbers::random({h}, 3)},
                              .constants = {Numbers::random({3, h}, 4), Numbers::random({h}, 5)}});
    test::same_on_device([&](Tape& tape, const Inputs&) { return stack(tape, h, {}, {}); },
                         {.inputs = {}});
  }
}

TEST_CASE("columns: the kernels stop at the last number") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  test::FreshTape fresh(Tape::Mode::kPredict, *device);  // its memory starts as NaN
  for (const Tensor& y : {columns(fresh.tape, 9, {}), stack(fresh.tape, 9, {}, {})}) {
    const Real* got = fresh.tape.fetch(y.data, 16);  // up to the next cache line
    for (int i = 0; i < 16; ++i) CHECK(std::isnan(got[i]) == (i >= 9));
  }
}

TEST_CASE("columns: gradients" * doctest::skip(test::kFloatBuild)) {
  test::check_gradient(
      [](Tape& tape, const Inputs& in) {
        return columns(tape, 6, {in[0], in[1], in[2]});
      },
      {Numbers::random({6, 2}, 1), Numbers::random({3, 1}, 2), Numbers::random({1, 4}, 3)});
  test::check_gradient(
      [](Tape& tape, const Inputs& in) {
        return stack(tape, 3, {in[0], in[1]}, {in[2], in[3]});
      },
      {Numbers::random({2, 3}, 1), Numbers::random({1, 3}, 2), Numbers::random({3}, 3),
       Numbers::random({3}, 4)});
}

TEST_CASE("columns: data without gradient is left alone, and without sources there are the ones") {
  Numbers a = Numbers::random({3, 2}, 1), b = Numbers::random({3, 1}, 2),
          w = Numbers::random({2, 3}, 3);
  Numbers bias = Numbers::random({3}, 4);
  FreshTape fresh;
  Tensor y = columns(fresh.tape, 3, {a.data(), b.tensor()});
  test::run_backward(fresh.tape, y, std::vector<Real>(12, 1));
  CHECK(a.grad() == std::vector<Real>(6, 0));
  CHECK(b.grad() == std::vector<Real>(3, 1));
  y = stack(fresh.tape, 3, {w.data()}, {bias.tensor()});
  test::run_backward(fresh.tape, y, std::vector<Real>(9, 1));
  CHECK(w.grad() == std::vector<Real>(6, 0));
  CHECK(bias.grad() == std::vector<Real>(3, 1));
  test::check_values(columns(fresh.tape, 2, {}), {1, 1}, 0);
  test::check_values(stack(fresh.tape, 2, {}, {}), {0, 0}, 0);
}

TEST_CASE("columns: shapes that do not fit are refused") {
  Numbers a = Numbers::random({4, 2}, 1), b = Numbers::random({3}, 2);
  FreshTape fresh;
  CHECK_THROWS_AS(columns(fresh.tape, 6, {a.tensor()}), Error);
  CHECK_THROWS_AS(columns(fresh.tape, 2, {a.tensor()}), Error);
  CHECK_THROWS_AS(stack(fresh.tape, 3, {a.tensor()}, {}), Error);
  CHECK_THROWS_AS(stack(fresh.tape, 2, {a.tensor()}, {b.tensor()}), Error);
}

}  // namespace
}  // namespace renar::columns_test
