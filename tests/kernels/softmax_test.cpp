// softmax and its logarithm.
#include "kernels/softmax.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support.h"
#include "tests/support_device.h"

namespace renar {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("softmax: by hand") {
  // x = (0, ln 2, ln 5): sum of exponentials 8, y = (1, 2, 5) / 8; y . dy = 5 for dy = (0, 0, 8)
  Numbers x({1, 3}, {0, std::log(Real{2}), std::log(Real{5})});
  FreshTape fresh;
  softmax(fresh.tape, x.tensor());  // gets no gradient: takes none away
  const Tensor y = softmax(fresh.tape, x.tensor());
  test::check_values(y, {0.125, 0.25, 0.625}, 1e-6);
  test::run_backward(fresh.tape, y, {0, 0, 8});
  test::check_same("dx", x.grad(), {-0.625, -1.25, 1.875}, 1e-6);  // y (dy - 5)
  CHECK(static_cast<double>(softmax_row(x.data().data, 3).log_probability(0)) ==
        doctest::Approx(-std::log(8.0)));
}

TEST_CASE("softmax: huge inputs stay finite and keep their digits") {
  Numbers x({2, 2}, {1e30, -1e30, -1e30, -1e30});
  FreshTape fresh;
  test::check_values(softmax(fresh.tape, x.tensor()), {1, 0, 0.5, 0.5}, 1e-6);
}

TEST_CASE("softmax: rows sum to one") {
  for (const test::Extents& e : test::kExtents) {
    Numbers x = Numbers::random({e.batch, e.nodes, e.hidden}, 1);
    FreshTape fresh;
    const Tensor y = softmax(fresh.tape, x.tensor());
    for (std::int64_t r = 0; r < y.rows(); ++r) {
      double sum = 0;
      for (std::int64_t c = 0; c < e.hidden; ++c)
        sum += static_cast<double>(y.data[r * e.hidden + c]);
      CHECK(std::abs(sum - 1) < test::kRounding);
    }
  }
}

TEST_CASE("softmax: the kernels do as the definition") {
  const auto op = [](Tape& tape, const Inputs& in) { return softmax(tape, in[0]); };
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.hidden};
    test::same_on_device(op, {.inputs = {Numbers::random(shape, 1)}});
    test::same_on_device(op, {.inputs = {test::coarse(shape, 2)}});
  }
  test::same_on_device(op, {.inputs = {Numbers::random({1, 64, 64}, 1)}});
  test::same_on_device(op, {.inputs = {Numbers({2, 2}, {1e30, -1e30, -1e30, -1e30})}});
}

TEST_CASE("softmax: gradients" * doctest::skip(test::kFloatBuild)) {
  for (const std::int64_t cols : {1, 2, 7, 33}) {
    test::check_gradient([](Tape& tape, const Inputs& in) { return softmax(tape, in[0]); },
                         {Numbers::random({2, 3, cols}, 1)});
  }
}

}  // namespace
}  // namespace renar
