// hide by hand, its gradient, and sizes that differ.
#include "kernels/hide.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::hide_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("hide: hidden elements are 0 and pass no gradient") {
  Numbers x({2, 2}, {1, -2, 3, 4}), hidden({4}, {0, 1, 1, 0});
  FreshTape fresh;
  hide(fresh.tape, x.tensor(), hidden.data());  // gets no gradient: takes none away
  const Tensor y = hide(fresh.tape, x.tensor(), hidden.data());
  CHECK(y.shape == Shape{2, 2});
  test::check_values(y, {1, 0, 0, 4}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4});
  CHECK(x.grad() == std::vector<Real>{1, 0, 0, 4});
  Numbers other({3}, {1, 1, 1});
  CHECK_THROWS_AS(hide(fresh.tape, x.tensor(), other.data()), Error);
}

TEST_CASE("hide: the kernels do as the definition") {
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.hidden};
    std::vector<Real> hidden;
    for (int i = 0; i < shape.size(); ++i) hidden.push_back(static_cast<Real>(i % 3 == 1));
    test::same_on_device(
        [](Tape& tape, const Inputs& in) { return hide(tape, in[0], in[1]); },
        {.inputs = {Numbers::random(shape, 1)}, .constants = {Numbers({shape.size()}, hidden)}});
  }
}

TEST_CASE("hide: gradient" * doctest::skip(test::kFloatBuild)) {
  Numbers hidden({5}, {1, 0, 0, 1, 0});
  test::check_gradient(
      [&](Tape& tape, const Inputs& in) { return hide(tape, in[0], hidden.data()); },
      {Numbers::random({5}, 1)});
}

}  // namespace
}  // namespace renar::hide_test
