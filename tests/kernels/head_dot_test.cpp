// head_dot by hand, against linear, and its gradients.
#include "kernels/head_dot.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "kernels/linear.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::head_dot_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

/// in[0] is x, then w and b of each head.
Tensor dot_of(Tape& tape, const Inputs& in) {
  const auto count = static_cast<std::int64_t>(in.size() / 2);
  Head* heads = tape.host_array<Head>(count);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto w = static_cast<std::size_t>(1 + 2 * k);
    heads[k] = {in[w], in[w + 1]};
  }
  return head_dot(tape, in[0], {heads, static_cast<std::size_t>(count)});
}

std::vector<Numbers> dot_inputs(Shape shape, std::int64_t heads) {
  std::vector<Numbers> inputs = {Numbers::random(shape, 1)};
  for (std::int64_t k = 0; k < heads; ++k) {
    const auto seed = static_cast<std::uint64_t>(2 + 2 * k);
    inputs.push_back(Numbers::random({shape[shape.rank - 1] / heads, 1}, seed));
    inputs.push_back(Numbers::random({1}, seed + 1));
  }
  return inputs;
}

TEST_CASE("head_dot: by hand; each head has its own piece") {
  Numbers x({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), w({2, 1}, {1, 10}), b({1}, {100});
  Numbers v({2, 1}, {1, -1}), c({1}, {0});
  FreshTape fresh;
  const Tensor y = dot_of(fresh.tape, {x.tensor(), w.tensor(), b.tensor(), v.tensor(), c.tensor()});
  CHECK(y.shape == Shape{2, 2});
  test::check_values(y, {121, -1, 165, -1}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4});
  CHECK(x.grad() == Values{1, 10, 2, -2, 3, 30, 4, -4});
  CHECK(w.grad() == Values{1 + 15, 2 + 18});
  CHECK(v.grad() == Values{6 + 28, 8 + 32});
  CHECK(b.grad() == Values{4});
  CHECK(c.grad() == Values{6});
}

TEST_CASE("head_dot: one head is a linear with one output") {
  for (const test::Extents& e : test::kExtents) {
    test::same_value_and_gradient(
        dot_of,
        [](Tape& tape, const Inputs& in) {
          return linear(tape, {{in[0], in[1]}}, {in[2]});
        },
        dot_inputs({e.batch, e.nodes, e.hidden}, 1));
  }
}

TEST_CASE("head_dot: the kernels do as the definition") {
  struct Case {
    Shape shape;
    std::int64_t heads;
  };
  const Case cases[] = {
      {{1, 1, 1}, 1},      {{2, 3, 3, 6}, 3},   {{3, 5, 5, 8}, 4},
      {{1, 5, 5, 33}, 1},  {{1, 3, 3, 99}, 3},  {{1, 8, 8, 16}, 2},
      {{1, 4, 4, 128}, 4}, {{2, 2, 128}, 1},    {{1, 33, 33, 2}, 1},
      {{2, 3, 3, 27}, 9},  {{1, 2, 2, 51}, 17}, {{1, 2, 2, 16}, 16}};  // of 8 heads a kernel
  for (const Case& each : cases) {
    test::same_on_device(dot_of, {.inputs = dot_inputs(each.shape, each.heads)});
  }
}

TEST_CASE("head_dot: the kernels leave inputs without gradient alone") {
  std::vector<Numbers> all = dot_inputs({2, 3, 4}, 1);
  test::same_on_device(dot_of, {.inputs = {all[0]}, .constants = {all[1], all[2]}});
  test::same_on_device(dot_of, {.inputs = {all[0], all[1]}, .constants = {all[2]}});
  const auto turned = [](Tape& tape, const Inputs& in) {
    return dot_of(tape, {in[2], in[0], in[1]});
  };
  test::same_on_device(turned, {.inputs = {all[1], all[2]}, .constants = {all[0]}});
}

TEST_CASE("head_dot: no barrier can be left out") {
  test::needs_every_barrier(dot_of, {.inputs = dot_inputs({2, 5, 5, 36}, 3)});
}

TEST_CASE("head_dot: gradients" * doctest::skip(test::kFloatBuild)) {
  for (const std::int64_t heads : {1, 3}) {
    test::check_gradient(dot_of, dot_inputs({2, 3, 6}, heads));
  }
}

TEST_CASE("head_dot: shapes that do not fit are refused") {
  Numbers x = Numbers::random({2, 3, 4}, 1), one = Numbers::random({1}, 4);
  FreshTape fresh;
  CHECK_THROWS_AS(dot_of(fresh.tape, {x.tensor()}), Error);
  CHECK_THROWS_AS(dot_of(fresh.tape, {x.tensor(), one.tensor(), one.tensor()}), Error);
}

}  // namespace
}  // namespace renar::head_dot_test
