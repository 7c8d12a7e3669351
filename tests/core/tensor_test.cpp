// Shapes, views that share numbers and gradient, and what is refused.
#include "core/tensor.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support.h"

namespace renar::tensor_test {
namespace {

TEST_CASE("tensor: a shape has a size, a text and at most five extents") {
  CHECK(Shape{2, 3, 4}.size() == 24);
  CHECK(Shape{}.size() == 1);
  CHECK(Shape{2, 0, 4}.size() == 0);
  CHECK(Shape{32, 16, 128}.text() == "(32,16,128)");
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{2, 3, 1});
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1}), Error);
}

TEST_CASE("tensor: rows and columns count along the last axis") {
  test::Numbers numbers = test::Numbers::random({2, 3, 4}, 1);
  const Tensor x = numbers.tensor();
  CHECK(x.rows() == 6);
  CHECK(x.cols() == 4);
  CHECK(x.dim(1) == 3);
  CHECK(x.has_grad());
  CHECK_FALSE(numbers.data().has_grad());
  CHECK_FALSE(static_cast<bool>(Tensor{}));
}

TEST_CASE("tensor: a slice of the first axis shares numbers and gradient") {
  test::Numbers numbers = test::Numbers::random({4, 2, 3}, 1);
  const Tensor x = numbers.tensor(), view = x.slice(1, 3);
  CHECK(view.shape == Shape{2, 2, 3});
  CHECK(view.data == x.data + 6);
  CHECK(view.grad == x.grad + 6);
  CHECK(x.first(2).data == x.data);
  CHECK(x.first(2).shape == Shape{2, 2, 3});
  CHECK(numbers.data().slice(1, 3).grad == nullptr);
  CHECK(x.slice(4, 4).size() == 0);
  CHECK_THROWS_AS(x.slice(3, 5), Error);
  CHECK_THROWS_AS(x.slice(-1, 2), Error);
  CHECK_THROWS_AS(x.slice(3, 2), Error);
}

TEST_CASE("tensor: reshaping keeps the size") {
  test::Numbers numbers = test::Numbers::random({4, 6}, 1);
  const Tensor x = numbers.tensor(), view = x.reshaped({2, 3, 4});
  CHECK(view.shape == Shape{2, 3, 4});
  CHECK(view.data == x.data);
  CHECK(view.grad == x.grad);
  CHECK_THROWS_WITH_AS(x.reshaped({5, 5}), "[tensor] (4,6) cannot be reshaped to (5,5)", Error);
}

}  // namespace
}  // namespace renar::tensor_test
