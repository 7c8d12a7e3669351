// triplet_max against the maximum over the written-out triplet sum.
#include "kernels/triplet_max.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "kernels/sender_max.h"
#include "tests/support_device.h"

namespace renar::triplet_max_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

Tensor fused(Tape& tape, const Inputs& in) { return triplet_max(tape, in[0], in[1], in[2]); }

// t[b,i,j,k] read as senders i of receivers (j,k).
Tensor composed(Tape& tape, const Inputs& in) {
  const std::int64_t batch = in[0].dim(0), n = in[0].dim(1), f = in[0].dim(3);
  const Tensor sum = triplet_sum(tape, in[0], in[1], in[2]);
  return sender_max(tape, sum.reshaped({batch, n, n * n, f}), {}).reshaped(in[0].shape);
}

TEST_CASE("triplet_max: by hand, with a tie") {
  // left[i,j] = (1, 2; 3, 5), right[i,k] = (10, 30; 8, 20), rest = 100 (2 j + k)
  // j=0,k=0: max(1+10, 3+8) = 11, a tie    j=0,k=1: max(1+30, 3+20) = 31
  // j=1,k=0: max(2+10, 5+8) = 13           j=1,k=1: max(2+30, 5+20) = 32
  Numbers left({1, 2, 2, 1}, {1, 2, 3, 5}), right({1, 2, 2, 1}, {10, 30, 8, 20});
  Numbers rest({1, 2, 2, 1}, {0, 100, 200, 300});
  FreshTape fresh;
  const Tensor y = triplet_max(fresh.tape, left.tensor(), right.tensor(), rest.tensor());
  test::check_values(y, {11, 131, 213, 332}, 0);
  test::run_backward(fresh.tape, y, {2, 4, 8, 16});
  CHECK(left.grad() == std::vector<Real>{1 + 4, 16, 1, 8});
  CHECK(right.grad() == std::vector<Real>{1, 4 + 16, 1 + 8, 0});
  CHECK(rest.grad() == std::vector<Real>{2, 4, 8, 16});
}

TEST_CASE("triplet_sum: every index has its place, by hand") {
  // t[i,j,k] = left[i,j] + right[i,k] + rest[j,k]
  Numbers left({1, 2, 2, 1}, {1, 2, 3, 4}), right({1, 2, 2, 1}, {10, 20, 30, 40});
  Numbers rest({1, 2, 2, 1}, {100, 200, 300, 400});
  FreshTape fresh;
  const Tensor t = triplet_sum(fresh.tape, left.tensor(), right.tensor(), rest.tensor());
  CHECK(t.shape == Shape{1, 2, 2, 2, 1});
  test::check_values(t, {111, 221, 312, 422, 133, 243, 334, 444}, 0);
}

TEST_CASE("triplet_max: equals its composition") {
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.nodes, std::min<std::int64_t>(e.hidden, 33)};
    test::same_value_and_gradient(
        fused, composed,
        {Numbers::random(shape, 1), Numbers::random(shape, 2), Numbers::random(shape, 3)});
  }
}

TEST_CASE("triplet_max: ties are shared evenly, as in its composition") {
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.nodes, std::min<std::int64_t>(e.hidden, 8)};
    test::same_value_and_gradient(
        fused, composed, {test::coarse(shape, 1), test::coarse(shape, 2), test::coarse(shape, 3)});
  }
}

TEST_CASE("triplet_max: the kernels do as the definition") {
  const Shape shapes[] = {{1, 1, 1, 1},   {3, 1, 1, 8},   {1, 2, 2, 3},   {2, 3, 3, 16},
                          {2, 5, 5, 8},   {3, 8, 8, 8},   {1, 9, 9, 9},   {1, 5, 5, 33},
                          {1, 2, 2, 128}, {2, 16, 16, 8}, {1, 20, 20, 8}, {1, 33, 33, 1}};
  for (const Shape& shape : shapes) {
    for (const auto& random : {Numbers::random, test::coarse}) {
      test::same_on_device(fused,
                           {.inputs = {random(shape, 1), random(shape, 2), random(shape, 3)}});
    }
  }
  const Shape large{1, 64, 64, 1};
  test::same_on_device(fused, {.inputs = {},
                               .constants = {test::coarse(large, 1), test::coarse(large, 2),
                                             test::coarse(large, 3)}});
}

TEST_CASE("triplet_max: no barrier can be left out") {
  const Shape shape{1, 9, 9, 9};  // more than one tile each way
  test::needs_every_barrier(fused, {.inputs = {Numbers::random(shape, 1), Numbers::random(shape, 2),
                                               Numbers::random(shape, 3)}});
}

TEST_CASE("triplet_sum: the kernels do as the definition") {
  const auto sum = [](Tape& tape, const Inputs& in) {
    return triplet_sum(tape, in[0], in[1], in[2]);
  };
  for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 3, 3, 5}, Shape{1, 9, 9, 8}}) {
    test::same_on_device(sum, {.inputs = {Numbers::random(shape, 1), Numbers::random(shape, 2),
                                          Numbers::random(shape, 3)}});
  }
}

TEST_CASE("triplet_max: gradients" * doctest::skip(test::kFloatBuild)) {
  const Shape shape{2, 4, 4, 3};
  const std::vector<Numbers> inputs = {Numbers::random(shape, 1), Numbers::random(shape, 2),
                                       Numbers::random(shape, 3)};
  test::check_gradient(fused, inputs);
  test::check_gradient(
      [](Tape& tape, const Inputs& in) { return triplet_sum(tape, in[0], in[1], in[2]); }, inputs);
}

TEST_CASE("triplet_max: shapes that do not fit are refused, and so are gradients for some inputs") {
  Numbers a = Numbers::random({1, 2, 2, 3}, 1), b = Numbers::random({1, 2, 2, 4}, 2);
  Numbers flat = Numbers::random({2, 2, 3}, 3);
  FreshTape fresh;
  Tape& tape = fresh.tape;
  for (const auto& op : {triplet_max, triplet_sum}) {
    CHECK_THROWS_AS(op(tape, a.tensor(), b.tensor(), a.tensor()), Error);
    CHECK_THROWS_AS(op(tape, a.tensor(), a.tensor(), b.tensor()), Error);
    CHECK_THROWS_AS(op(tape, flat.tensor(), flat.tensor(), flat.tensor()), Error);
    CHECK_THROWS_AS(op(tape, a.tensor(), a.data(), a.tensor()), Error);
  }
}

}  // namespace
}  // namespace renar::triplet_max_test
