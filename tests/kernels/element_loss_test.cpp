// element_loss: what it refuses. squared_error_test and its like hold values and gradients.
#include "kernels/element_loss.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support.h"

namespace renar::element_loss_test {
namespace {

TEST_CASE("element_loss: a device's sum has room for what it was opened for") {
  double total = 0, costs[2] = {};
  LossSum sum(total, 2);
  CHECK_THROWS_AS(costs_for(sum, 1), Error);  // was not opened
  sum.costs = costs;
  CHECK(costs_for(sum, 2) == costs);
  CHECK_THROWS_AS(costs_for(sum, 3), Error);
}

/// x[i], which has the gradient 1; odd elements do not count.
struct Evens {
  const Real* x;
  Real* dx;

  Touched touched(std::int64_t count) const { return Touched().reads(x, count).writes(dx, count); }
  bool has_grad() const { return dx != nullptr; }
  double cost(std::int64_t i) const { return i % 2 == 0 ? static_cast<double>(x[i]) : 0; }
  void pass(std::int64_t i, Real scale) const { dx[i] += i % 2 == 0 ? scale : 0; }
};

TEST_CASE("element_loss: by hand; without a gradient the sum alone is made") {
  test::Numbers x({3}, {1, 2, 4});
  test::FreshTape fresh;
  double sum = 100;
  element_loss(fresh.tape, 3, Evens{x.tensor().data, x.tensor().grad}, test::sent(fresh.tape, 2),
               sum);
  CHECK(sum == 110);
  element_loss(fresh.tape, 3, Evens{x.tensor().data, nullptr}, test::sent(fresh.tape, 2), sum);
  CHECK(sum == 120);
  fresh.tape.backward();
  CHECK(x.grad() == std::vector<Real>{2, 0, 2});
}

}  // namespace
}  // namespace renar::element_loss_test
