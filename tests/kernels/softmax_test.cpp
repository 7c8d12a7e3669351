// softmax and its logarithm.
#include "kernels/softmax.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/cross_entropy.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::softmax_test {
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

// Rows of one kernel and rows that must wait for others: more tensors than one kernel takes, a
// softmax of a softmax, two that add to one gradient, losses whose costs meet.
TEST_CASE("softmax: of several tensors, and their losses, side by side") {
  const std::int64_t count = 20, rows = 3;
  const std::vector<std::int32_t> target = {1, -1, 0};
  test::same_loss_on_device(
      [&](Tape& tape, const Inputs& in, double& sum) {
        tape.poison(false);  // it would part what stands side by side
        const std::int32_t* classes = tape.send(target.data(), rows);
        const LossSum sums[] = {test::open_sum(tape, sum, rows), test::open_sum(tape, sum, rows),
                                test::open_sum(tape, sum, rows)};
        tape.begin_step();  // outside of one, gradients are set to zero one by one
        Tensor y[24];
        const auto x = [&](std::int64_t k) { return in[0].slice(k, k + 1); };
        for (std::int64_t k = 0; k < count; ++k) y[k] = softmax(tape, x(k));
        y[20] = softmax(tape, y[19]);
        y[21] = softmax(tape, x(0));
        y[22] = softmax(tape, x(0));
        y[23] = softmax(tape, y[22]);
        for (std::size_t k = 0; k < 24; ++k)
          cross_entropy(tape, y[k], classes, test::sent(tape, 2), sums[k % 3]);
        for (const Tensor& twice : {y[5], y[6], y[5]}) {
          cross_entropy(tape, twice, classes, test::sent(tape, Real{0.3}), sums[0]);
        }
        cross_entropy(tape, y[5], classes, test::sent(tape, 1), sums[1]);
        tape.end_step();
      },
      {.inputs = {Numbers::random({count, rows, 5}, 1)}});
}

TEST_CASE("softmax: gradients" * doctest::skip(test::kFloatBuild)) {
  for (const std::int64_t cols : {1, 2, 7, 33}) {
    test::check_gradient([](Tape& tape, const Inputs& in) { return softmax(tape, in[0]); },
                         {Numbers::random({2, 3, cols}, 1)});
  }
}

}  // namespace
}  // namespace renar::softmax_test
