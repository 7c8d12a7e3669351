// log_sinkhorn by hand, against the same iteration on two vectors of potentials, and its gradient.
#include "kernels/log_sinkhorn.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "kernels/cross_entropy.h"
#include "kernels/pointwise.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::log_sinkhorn_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

constexpr double kDiagonal = 1e6;

/// The same matrix as 10 x - u[i] - v[j]: a half round replaces all of u, or all of v.
std::vector<double> by_potentials(const Values& logits, std::int64_t n, int rounds) {
  const std::size_t size = static_cast<std::size_t>(n);
  std::vector<double> x(logits.begin(), logits.end()), u(size), v(size);
  for (std::size_t e = 0; e < x.size(); ++e) {
    x[e] = x[e] * 10 - (e / size == e % size ? kDiagonal : 0);
  }
  const auto log_sum_exp = [&](const auto& at) {
    double most = at(0), sum = 0;
    for (std::size_t k = 0; k < size; ++k) most = std::max(most, at(k));
    for (std::size_t k = 0; k < size; ++k) sum += std::exp(at(k) - most);
    return most + std::log(sum);
  };
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < size; ++i) {
      u[i] = log_sum_exp([&](std::size_t j) { return x[i * size + j] - v[j]; });
    }
    for (std::size_t j = 0; j < size; ++j) {
      v[j] = log_sum_exp([&](std::size_t i) { return x[i * size + j] - u[i]; });
    }
  }
  for (std::size_t e = 0; e < x.size(); ++e) x[e] -= u[e / size] + v[e % size];
  return x;
}

TEST_CASE("log_sinkhorn: no rounds only scale; noise is added before the temperature") {
  Numbers logits({1, 2, 2}, {1, 2, -3, 4}), noise({1, 2, 2}, {0, 1, 0.5, 0});
  FreshTape fresh;
  const Tensor y = log_sinkhorn(fresh.tape, logits.tensor(), 0, noise.data());
  test::check_values(y, {10 - 1000000, 30, -25, 40 - 1000000}, 1e-7);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4});
  test::check_same("dx", logits.grad(), {10, 20, 30, 40}, 1e-6);
}

TEST_CASE("log_sinkhorn: by hand") {
  FreshTape fresh;
  // A node alone has no choice, two have one.
  Numbers one({2, 1, 1}, {3, -8}), two({1, 2, 2}, {5, 1, -7, 2});
  test::check_values(log_sinkhorn(fresh.tape, one.tensor(), 10), {0, 0}, 0);
  const Tensor y = log_sinkhorn(fresh.tape, two.tensor(), 10);
  CHECK(y.data[0] < -9e5);
  CHECK(y.data[1] == 0);
  CHECK(y.data[2] == 0);
  CHECK(y.data[3] < -9e5);
  // Three equal nodes: each other one has a half. One row raised: its sum is 1 all the same.
  Numbers three({1, 3, 3}, {0, 0, 0, 7, 7, 7, 0, 0, 0});
  const Tensor z = log_sinkhorn(fresh.tape, three.tensor(), 10);
  for (const int at : {1, 2, 3, 5, 6, 7}) {
    CHECK(static_cast<double>(z.data[at]) == doctest::Approx(-std::log(2.0)).epsilon(1e-6));
  }
}

TEST_CASE("log_sinkhorn: equals its iteration on potentials, in every sample and with any rounds") {
  for (const std::int64_t n : {1, 2, 3, 5, 16, 33}) {
    for (const int rounds : {1, 2, 10, 50}) {
      Numbers logits = Numbers::random({2, n, n}, static_cast<std::uint64_t>(n));
      FreshTape fresh(Tape::Mode::kPredict);
      const Tensor y = log_sinkhorn(fresh.tape, logits.data(), rounds);
      Values alone(static_cast<std::size_t>(n * n));
      for (std::int64_t b = 0; b < 2; ++b) {
        const Real* sample = logits.data().data + b * n * n;
        const auto want = by_potentials({sample, sample + n * n}, n, rounds);
        for (std::int64_t e = 0; e < n * n; ++e) {
          const double got = static_cast<double>(y.data[b * n * n + e]);
          const double their = want[static_cast<std::size_t>(e)];
          const double scale = e / n == e % n ? kDiagonal : 1 + std::abs(their);
          if (!(std::abs(got - their) <= 3 * test::kRounding * scale)) {
            FAIL_CHECK("n ", n, ", ", rounds, " rounds, at ", e, ": ", got, ", expected ", their);
          }
        }
        log_sinkhorn_of(n, rounds, sample, alone.data());
        CHECK(std::equal(alone.begin(), alone.end(), y.data + b * n * n));
      }
    }
  }
}

TEST_CASE("log_sinkhorn: columns sum to one, and after many rounds so do rows") {
  constexpr std::int64_t kN = 16;
  Numbers logits = Numbers::random({1, kN, kN}, 3);
  FreshTape fresh;
  const Tensor y = log_sinkhorn(fresh.tape, logits.tensor(), 1000);
  for (std::int64_t i = 0; i < kN; ++i) {
    double row = 0, column = 0;
    for (std::int64_t k = 0; k < kN; ++k) {
      row += std::exp(static_cast<double>(y.data[i * kN + k]));
      column += std::exp(static_cast<double>(y.data[k * kN + i]));
    }
    CHECK(row == doctest::Approx(1).epsilon(1e-3));
    CHECK(column == doctest::Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("log_sinkhorn: huge logits stay finite and choose the largest") {
  Numbers logits({1, 3, 3}, {0, 1e4, 0, 0, 0, 1e4, 1e4, 0, 0});
  FreshTape fresh;
  const Tensor y = log_sinkhorn(fresh.tape, logits.tensor(), 10);
  for (const int at : {1, 5, 6}) CHECK(y.data[at] == 0);
  double loss = 0;
  const std::vector<std::int32_t> target = {2, 2, 0};
  negative_log_likelihood(fresh.tape, y, target.data(), test::sent(fresh.tape, 1), loss);
  CHECK(std::isfinite(loss));
  fresh.tape.backward();
  for (const Real g : logits.grad()) CHECK(std::isfinite(g));
}

// By exp: next to the -1e6 on the diagonal no difference elsewhere would count. Matrices of over
// 110 nodes (77 in double) do not fit in shared memory.
TEST_CASE("log_sinkhorn: the kernels do as the definition") {
  struct Case {
    std::int64_t batch, nodes;
    int rounds;
  };
  for (const Case& c : {Case{2, 1, 10},
                        {3, 2, 10},
                        {2, 3, 25},
                        {3, 5, 10},
                        {2, 16, 10},
                        {1, 20, 3},
                        {2, 33, 1},
                        {1, 64, 2},
                        {1, 112, 1},
                        {2, 3, 1},
                        {1, 5, 0}}) {
    const Shape shape{c.batch, c.nodes, c.nodes};
    const Numbers logits = Numbers::random(shape, 1), noise = Numbers::random(shape, 2);
    const auto with = [&](const Inputs& in) { return in.size() > 1 ? in[1] : Tensor{}; };
    const auto op = [&](Tape& tape, const Inputs& in) {
      return exponential(tape, log_sinkhorn(tape, in[0], c.rounds, with(in)));
    };
    // Without rounds the values themselves: their exponentials overflow.
    const auto plain = [&](Tape& tape, const Inputs& in) {
      return log_sinkhorn(tape, in[0], c.rounds, with(in));
    };
    const test::Op& chosen = c.rounds > 0 ? test::Op(op) : test::Op(plain);
    test::same_on_device(chosen, {.inputs = {logits}, .tolerance = 3 * test::kRounding});
    test::same_on_device(
        chosen, {.inputs = {logits}, .constants = {noise}, .tolerance = 3 * test::kRounding});
  }
}

TEST_CASE("log_sinkhorn: the kernels do as the definition without a gradient") {
  const auto op = [](Tape& tape, const Inputs& in) {
    return exponential(tape, log_sinkhorn(tape, in[0], 25));
  };
  for (const std::int64_t n : {1, 5, 33}) {
    test::same_on_device(op, {.inputs = {},
                              .constants = {Numbers::random({1, n, n}, 1)},
                              .tolerance = 3 * test::kRounding});
  }
}

TEST_CASE("log_sinkhorn: no barrier can be left out, in shared memory or outside") {
  const auto op = [](Tape& tape, const Inputs& in) {
    return exponential(tape, log_sinkhorn(tape, in[0], 1));
  };
  for (const std::int64_t n : {33, 112}) {
    test::needs_every_barrier(op, {.inputs = {Numbers::random({1, n, n}, 1)}});
  }
}

TEST_CASE("log_sinkhorn: gradients through all rounds" * doctest::skip(test::kFloatBuild)) {
  // By exp, since differences of numbers near -1e6 have too few digits.
  for (const std::int64_t n : {1, 2, 3, 6}) {
    for (const int rounds : {0, 1, 3, 25}) {
      Numbers noise = Numbers::random({2, n, n}, 2);
      const auto op = [&](Tape& tape, const Inputs& in) {
        return exponential(tape, log_sinkhorn(tape, in[0], rounds, noise.data()));
      };
      test::check_gradient(op, {Numbers::random({2, n, n}, 1)});
    }
  }
  const std::vector<std::int32_t> target = {2, 0, 1, 1, 2, 0};
  test::check_loss_gradient(
      [&](Tape& tape, const Inputs& in, double& sum) {
        negative_log_likelihood(tape, log_sinkhorn(tape, in[0], 10), target.data(),
                                test::sent(tape, Real{0.3}), sum);
      },
      {Numbers::random({2, 3, 3}, 4)});
}

TEST_CASE("log_sinkhorn: shapes that do not fit are refused") {
  Numbers flat = Numbers::random({2, 3}, 1), oblong = Numbers::random({1, 2, 3}, 2);
  Numbers square = Numbers::random({1, 3, 3}, 3);
  FreshTape fresh;
  CHECK_THROWS_AS(log_sinkhorn(fresh.tape, flat.tensor(), 1), Error);
  CHECK_THROWS_AS(log_sinkhorn(fresh.tape, oblong.tensor(), 1), Error);
  CHECK_THROWS_AS(log_sinkhorn(fresh.tape, square.tensor(), -1), Error);
  CHECK_THROWS_AS(log_sinkhorn(fresh.tape, square.tensor(), 1, oblong.data()), Error);
}

}  // namespace
}  // namespace renar::log_sinkhorn_test
