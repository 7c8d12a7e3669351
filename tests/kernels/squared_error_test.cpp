// squared_error by hand and its gradient.
#include "kernels/squared_error.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::squared_error_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("squared_error: by hand; sums and gradients add up") {
  Numbers pred({2, 2}, {1, 2, 3, 4});
  const std::vector<Real> truth = {1, 0, 5, 3};
  FreshTape fresh;
  double sum = 100;
  squared_error(fresh.tape, pred.tensor(), truth.data(), test::sent(fresh.tape, Real{0.5}), sum);
  CHECK(sum == 100 + 0.5 * (0 + 4 + 4 + 1));
  squared_error(fresh.tape, pred.tensor(), truth.data(), test::sent(fresh.tape, Real{0.5}), sum);
  CHECK(sum == 100 + 2 * 0.5 * (0 + 4 + 4 + 1));
  fresh.tape.backward();
  CHECK(pred.grad() == std::vector<Real>{0, 4, -4, 2});  // twice 0.5 * 2 (pred - truth)
}

TEST_CASE("squared_error: what does not count costs nothing and passes no gradient") {
  const Real inf = std::numeric_limits<Real>::infinity();
  Numbers pred({3}, {1, inf, 3});
  const std::vector<Real> truth = {2, kUncounted, kUncounted};
  FreshTape fresh;
  double sum = 0;
  squared_error(fresh.tape, pred.tensor(), truth.data(), test::sent(fresh.tape, 3), sum);
  CHECK(sum == 3);
  fresh.tape.backward();
  CHECK(pred.grad() == std::vector<Real>{-6, 0, 0});
}

TEST_CASE("squared_error: without a gradient, and when predicting, the sum alone is made") {
  Numbers pred({2}, {1, 2});
  const std::vector<Real> truth = {0, 0};
  FreshTape recording, predicting(Tape::Mode::kPredict);
  double sum = 0;
  squared_error(recording.tape, pred.data(), truth.data(), test::sent(recording.tape, 1), sum);
  squared_error(predicting.tape, pred.tensor(), truth.data(), test::sent(predicting.tape, 1), sum);
  recording.tape.backward();
  predicting.tape.backward();
  CHECK(sum == 10);
  CHECK(pred.grad() == std::vector<Real>{0, 0});
}

Numbers some_uncounted(std::int64_t size) {
  std::vector<Real> truth = test::random_values(size, 2);
  for (std::size_t i = 2; i < truth.size(); i += 5) truth[i] = kUncounted;
  return {{size}, truth};
}

TEST_CASE("squared_error: the kernels do as the definition") {
  for (const std::int64_t size : {1, 3, 33, 256, 2047, 5000}) {
    test::same_loss_on_device(
        [](Tape& tape, const Inputs& in, double& sum) {
          const LossSum costs = test::open_sum(tape, sum, in[0].size());
          squared_error(tape, in[0], in[1].data, test::sent(tape, Real{0.3}), costs);
          squared_error(tape, in[0].first(1), in[1].data, test::sent(tape, 2), costs);
        },
        {.inputs = {Numbers::random({size}, 1)}, .constants = {some_uncounted(size)}});
  }
}

TEST_CASE("squared_error: gradient" * doctest::skip(test::kFloatBuild)) {
  const std::vector<Real> truth = test::random_values(15, 2);
  test::check_loss_gradient(
      [&](Tape& tape, const Inputs& in, double& sum) {
        squared_error(tape, in[0], truth.data(), test::sent(tape, Real{0.3}), sum);
      },
      {Numbers::random({3, 5}, 1)});
}

}  // namespace
}  // namespace renar::squared_error_test
