// relu, leaky_relu, sigmoid, exponential and add.
#include "kernels/pointwise.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::pointwise_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("pointwise: relu by hand; nothing passes at zero") {
  Numbers x({5}, {-2, -0.0, 0, 0.5, 3});
  FreshTape fresh;
  const Tensor y = relu(fresh.tape, x.tensor());
  test::check_values(y, {0, 0, 0, 0.5, 3}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4, 5});
  CHECK(x.grad() == std::vector<Real>{0, 0, 0, 4, 5});
}

TEST_CASE("pointwise: leaky_relu by hand; all passes at zero") {
  Numbers x({5}, {-200, -0.0, 0, 0.5, 3});
  FreshTape fresh;
  const Tensor y = leaky_relu(fresh.tape, x.tensor());
  test::check_values(y, {-2, 0, 0, 0.5, 3}, 1e-7);
  test::run_backward(fresh.tape, y, {100, 2, 3, 4, 5});
  test::check_same("dx", x.grad(), {1, 2, 3, 4, 5}, 1e-7);
}

TEST_CASE("pointwise: sigmoid by hand, and finite for huge inputs") {
  // sigmoid(ln 3) = 1 / (1 + 1/3) = 3/4, slope 3/4 * 1/4 = 3/16
  const Real ln3 = std::log(Real{3});
  Numbers x({5}, {0, ln3, -ln3, 1000, -1000});
  FreshTape fresh;
  const Tensor y = sigmoid(fresh.tape, x.tensor());
  test::check_values(y, {0.5, 0.75, 0.25, 1, 0}, test::kFloatBuild ? 1e-7 : 1e-15);
  test::run_backward(fresh.tape, y, {1, 16, 32, 1, 1});
  test::check_same("dx", x.grad(), {0.25, 3, 6, 0, 0}, test::kFloatBuild ? 1e-6 : 1e-14);
}

TEST_CASE("pointwise: exponential by hand; nothing is left of -1e6") {
  Numbers x({3}, {0, std::log(Real{3}), -1e6});
  FreshTape fresh;
  const Tensor y = exponential(fresh.tape, x.tensor());
  test::check_values(y, {1, 3, 0}, test::kFloatBuild ? 1e-6 : 1e-15);
  test::run_backward(fresh.tape, y, {2, 5, 7});
  test::check_same("dx", x.grad(), {2, 15, 0}, test::kFloatBuild ? 1e-6 : 1e-14);
}

TEST_CASE("pointwise: add by hand, also to itself") {
  Numbers a({2}, {1, 2}), b({2}, {10, 20}), other({1, 2}, {1, 2});
  FreshTape fresh;
  const Tensor x = a.tensor();
  test::check_values(add(fresh.tape, x, b.tensor()), {11, 22}, 0);
  const Tensor twice = add(fresh.tape, x, x);
  test::check_values(twice, {2, 4}, 0);
  test::run_backward(fresh.tape, twice, {1, 5});
  CHECK(a.grad() == std::vector<Real>{2, 10});
  CHECK_THROWS_AS(add(fresh.tape, x, other.tensor()), Error);
}

TEST_CASE("pointwise: the kernels do as the definitions") {
  for (const std::int64_t size : {1, 3, 257}) {
    for (const auto function : {relu, leaky_relu, sigmoid, exponential}) {
      const test::Op op = [&](Tape& tape, const Inputs& in) { return function(tape, in[0]); };
      test::same_on_device(op, {.inputs = {Numbers::random({size}, 1)}});
    }
    const test::Op sum = [](Tape& tape, const Inputs& in) { return add(tape, in[0], in[1]); };
    test::same_on_device(sum, {.inputs = {Numbers::random({size}, 1), Numbers::random({size}, 2)}});
  }
}

TEST_CASE("pointwise: gradients" * doctest::skip(test::kFloatBuild)) {
  for (const std::int64_t size : {1, 3, 57}) {
    test::check_gradient([](Tape& tape, const Inputs& in) { return relu(tape, in[0]); },
                         {Numbers::random({size}, 1)});
    test::check_gradient([](Tape& tape, const Inputs& in) { return leaky_relu(tape, in[0]); },
                         {Numbers::random({size}, 3)});
    test::check_gradient([](Tape& tape, const Inputs& in) { return sigmoid(tape, in[0]); },
                         {Numbers::random({size}, 2)});
    test::check_gradient([](Tape& tape, const Inputs& in) { return exponential(tape, in[0]); },
                         {Numbers::random({size}, 3)});
    test::check_gradient([](Tape& tape, const Inputs& in) { return add(tape, in[0], in[1]); },
                         {Numbers::random({size}, 1), Numbers::random({size}, 2)});
  }
}

TEST_CASE("pointwise: backward adds to what the gradient holds") {
  Numbers x({2}, {1, 2});
  FreshTape fresh;
  const Tensor y = relu(fresh.tape, x.tensor());
  x.tensor().grad[0] = 10;
  test::run_backward(fresh.tape, y, {1, 1});
  CHECK(x.grad() == std::vector<Real>{11, 1});
}

}  // namespace
}  // namespace renar::pointwise_test
