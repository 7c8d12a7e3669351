// mark_largest and above_zero by hand, ties, and the kernels against their definitions.
#include "kernels/mark_largest.h"

#include <doctest/doctest.h>

#include "tests/support_device.h"

namespace renar::mark_largest_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("mark_largest: the first of equal ones, in every row; nothing has a gradient") {
  Numbers x({2, 2, 3}, {1, 2, 2, -3, -3, -3, 0, -1, 5, 7, 7, 1});
  FreshTape fresh;
  const Tensor y = mark_largest(fresh.tape, x.tensor());
  CHECK(y.shape == x.shape());
  CHECK(!y.has_grad());
  test::check_values(y, {0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0}, 0);
}

TEST_CASE("above_zero: by hand; 0 is not above") {
  Numbers x({4}, {-4, 0, Real(0.1), 1e30});
  FreshTape fresh;
  const Tensor y = above_zero(fresh.tape, x.tensor());
  CHECK(!y.has_grad());
  test::check_values(y, {0, 0, 1, 1}, 0);
}

TEST_CASE("mark_largest: the kernels do as the definition") {
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.hidden};
    // Some ties, none, and nothing but ties, of negative numbers.
    for (const Numbers& x : {test::coarse(shape, 1), Numbers::random(shape, 2),
                             Numbers(shape, std::vector<Real>(shape.size(), -5))}) {
      for (const auto& op : {mark_largest, above_zero}) {
        test::same_on_device([&](Tape& tape, const Inputs& in) { return op(tape, in[0]); },
                             {.inputs = {}, .constants = {x}, .tolerance = 0});
      }
    }
  }
}

}  // namespace
}  // namespace renar::mark_largest_test
