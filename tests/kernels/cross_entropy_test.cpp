// cross_entropy and negative_log_likelihood by hand, rows without target, huge logits, gradient.
#include "kernels/cross_entropy.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "kernels/softmax.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::cross_entropy_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("cross_entropy: by hand; a row of target -1 is skipped") {
  // (0, ln 2, ln 5): probabilities (1, 2, 5) / 8; target 1 costs ln 4.  (0, 0, 0): target 0 costs
  // ln 3.
  Numbers logits({3, 3}, {0, std::log(Real{2}), std::log(Real{5}), 9, 9, 9, 0, 0, 0});
  const std::vector<std::int32_t> target = {1, -1, 0};
  FreshTape fresh;
  double sum = 100;
  cross_entropy(fresh.tape, logits.tensor(), target.data(), test::sent(fresh.tape, 2), sum);
  CHECK(sum == doctest::Approx(100 + 2 * (std::log(4.0) + std::log(3.0))).epsilon(1e-7));
  cross_entropy(fresh.tape, logits.tensor(), target.data(), test::sent(fresh.tape, 1), sum);
  fresh.tape.backward();
  // 2 + 1 times the probabilities, less the truth: gradients add up.
  test::check_same("dx", logits.grad(), {0.375, -2.25, 1.875, 0, 0, 0, -2, 1, 1}, 1e-6);
}

TEST_CASE("cross_entropy: huge logits stay finite") {
  Numbers logits({2, 2}, {1e30, -1e30, 1e30, -1e30});
  const std::vector<std::int32_t> target = {0, 1};
  FreshTape fresh;
  double sum = 0;
  cross_entropy(fresh.tape, logits.tensor(), target.data(), test::sent(fresh.tape, 1), sum);
  CHECK(sum == doctest::Approx(2e30));
  fresh.tape.backward();
  CHECK(logits.grad() == std::vector<Real>{0, 0, 1, -1});
}

TEST_CASE("cross_entropy: equal logits cost ln 2 however large they are") {
  Numbers logits({1, 2}, {1e9, 1e9});
  const std::vector<std::int32_t> target = {0};
  FreshTape fresh;
  double sum = 0;
  cross_entropy(fresh.tape, logits.tensor(), target.data(), test::sent(fresh.tape, 1), sum);
  CHECK(sum == doctest::Approx(std::log(2.0)).epsilon(1e-7));
  fresh.tape.backward();
  test::check_same("dx", logits.grad(), {-0.5, 0.5}, 1e-6);
}

TEST_CASE("cross_entropy: gradient" * doctest::skip(test::kFloatBuild)) {
  const std::vector<std::int32_t> target = {0, 4, -1, 2, 2, -1};
  test::check_loss_gradient(
      [&](Tape& tape, const Inputs& in, double& sum) {
        cross_entropy(tape, in[0], target.data(), test::sent(tape, Real{0.3}), sum);
      },
      {Numbers::random({6, 5}, 1)});
}

/// A class for every row, and none for some.
std::vector<std::int32_t> targets(std::int64_t rows, std::int64_t cols) {
  std::vector<std::int32_t> all;
  for (std::int64_t r = 0; r < rows; ++r) {
    all.push_back(r % 4 == 1 ? -1 : static_cast<std::int32_t>((5 * r + 2) % cols));
  }
  return all;
}

TEST_CASE("cross_entropy: the kernels do as the definition, negative_log_likelihood's too") {
  std::vector<test::Extents> extents(std::begin(test::kExtents), std::end(test::kExtents));
  extents.push_back({1, 64, 64});
  for (const test::Extents& e : extents) {
    const std::int64_t rows = e.batch * e.nodes;
    const std::vector<std::int32_t> target = targets(rows, e.hidden);
    for (const auto& loss : {cross_entropy, negative_log_likelihood}) {
      test::same_loss_on_device(
          [&](Tape& tape, const Inputs& in, double& sum) {
            const LossSum costs = test::open_sum(tape, sum, rows);
            loss(tape, in[0], tape.send(target.data(), rows), test::sent(tape, Real{0.3}), costs);
          },
          {.inputs = {Numbers::random({e.batch, e.nodes, e.hidden}, 1)}});
    }
  }
}

TEST_CASE("negative_log_likelihood: by hand; a row of target -1 is skipped") {
  Numbers x({3, 2}, {-1, -2, -3, -4, -5, -1e6});
  const std::vector<std::int32_t> target = {1, -1, 0};
  FreshTape fresh;
  double sum = 100;
  negative_log_likelihood(fresh.tape, x.tensor(), target.data(), test::sent(fresh.tape, 3), sum);
  CHECK(sum == 100 + 3 * (2 + 5));
  negative_log_likelihood(fresh.tape, x.tensor(), target.data(), test::sent(fresh.tape, 1), sum);
  fresh.tape.backward();
  CHECK(x.grad() == std::vector<Real>{0, -4, 0, 0, -4, 0});  // gradients add up
}

TEST_CASE("negative_log_likelihood: of a softmax's logarithm it is the cross-entropy") {
  Numbers logits({2, 2}, {1, 3, 0, 0}), logs({2, 2}, {0, 0, 0, 0});
  Real* log_probabilities = logs.data().data;
  for (int i = 0; i < 4; ++i) {
    const Real* row = logits.data().data + i / 2 * 2;
    log_probabilities[i] = softmax_row(row, 2).log_probability(row[i % 2]);
  }
  const std::vector<std::int32_t> target = {0, 1};
  FreshTape fresh;
  double want = 0, got = 0;
  cross_entropy(fresh.tape, logits.data(), target.data(), test::sent(fresh.tape, 1), want);
  negative_log_likelihood(fresh.tape, logs.data(), target.data(), test::sent(fresh.tape, 1), got);
  CHECK(got == doctest::Approx(want).epsilon(1e-6));
}

TEST_CASE("cross_entropy: a target that is no class is refused") {
  Numbers logits = Numbers::random({2, 3}, 1);
  const std::vector<std::int32_t> target = {0, 3};
  FreshTape fresh;
  double sum = 0;
  CHECK_THROWS_AS(
      cross_entropy(fresh.tape, logits.tensor(), target.data(), test::sent(fresh.tape, 1), sum),
      Error);
  CHECK_THROWS_AS(negative_log_likelihood(fresh.tape, logits.tensor(), target.data(),
                                          test::sent(fresh.tape, 1), sum),
                  Error);
}

}  // namespace
}  // namespace renar::cross_entropy_test
