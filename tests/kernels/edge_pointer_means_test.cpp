// edge_pointer_means by hand, of indices and of their one-hot form, and its gradient.
#include "kernels/edge_pointer_means.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support_device.h"

namespace renar::edge_pointer_means_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

TEST_CASE("edge_pointer_means: by hand") {
  // p[i,j] = (2, 4), (6, 8); (10, 20), (30, 40): the mean over i at (j,k), and over j at (i,k)
  Numbers p({1, 2, 2, 2}, {2, 4, 6, 8, 10, 20, 30, 40});
  FreshTape fresh;
  const Tensor y = edge_pointer_means(fresh.tape, p.tensor());
  CHECK(y.shape == Shape{1, 2, 2, 2});
  test::check_values(y, {6, 4, 12, 6, 18, 20, 24, 30}, 0);
  test::run_backward(fresh.tape, y, {2, 20, 4, 40, 6, 60, 8, 80});
  // p[i,j,k] has half of the first at (j,k) and half of the second at (i,k)
  CHECK(p.grad() == Values{1 + 10, 2 + 20, 3 + 10, 4 + 20, 1 + 30, 2 + 40, 3 + 30, 4 + 40});
}

TEST_CASE("edge_pointer_means: indices are one-hot pointers") {
  for (const std::int64_t n : {1, 2, 5, 16}) {
    Values target, one_hot(static_cast<std::size_t>(n * n * n));
    for (const Real x : test::random_values(n * n, 7)) {
      const std::int64_t k = static_cast<std::int64_t>(std::abs(x) * 100) % n;
      one_hot[target.size() * static_cast<std::size_t>(n) + static_cast<std::size_t>(k)] = 1;
      target.push_back(static_cast<Real>(k));
    }
    Numbers p({1, n, n, n}, one_hot);
    FreshTape fresh;
    Values want(static_cast<std::size_t>(2 * n * n));
    edge_pointer_means_of(n, target.data(), want.data());
    test::check_values(edge_pointer_means(fresh.tape, p.tensor()), want);
  }
}

TEST_CASE("edge_pointer_means: the kernels do as the definition") {
  const auto op = [](Tape& tape, const Inputs& in) { return edge_pointer_means(tape, in[0]); };
  for (const std::int64_t n : {1, 2, 3, 5, 20, 33}) {
    const std::int64_t batch = n < 20 ? 3 : 1;
    test::same_on_device(op, {.inputs = {Numbers::random({batch, n, n, n}, 1)}});
  }
  test::same_on_device(op, {.inputs = {}, .constants = {Numbers::random({1, 64, 64, 64}, 2)}});
}

TEST_CASE("edge_pointer_means: gradients" * doctest::skip(test::kFloatBuild)) {
  for (const std::int64_t n : {1, 2, 5}) {
    test::check_gradient(
        [](Tape& tape, const Inputs& in) { return edge_pointer_means(tape, in[0]); },
        {Numbers::random({2, n, n, n}, 1)});
  }
}

TEST_CASE("edge_pointer_means: what is not (B,N,N,N) is refused") {
  Numbers p = Numbers::random({1, 2, 2, 3}, 1), q = Numbers::random({2, 2, 2}, 2);
  FreshTape fresh;
  CHECK_THROWS_AS(edge_pointer_means(fresh.tape, p.tensor()), Error);
  CHECK_THROWS_AS(edge_pointer_means(fresh.tape, q.tensor()), Error);
}

}  // namespace
}  // namespace renar::edge_pointer_means_test
