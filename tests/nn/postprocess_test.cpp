// What is fed back: soft and hard, for every type.
#include "nn/postprocess.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support.h"

namespace renar::postprocess_test {
namespace {

using Values = std::vector<Real>;

Probe node(Type type) {
  return {"y", Stage::kHint, Location::kNode, type, type == Type::kCategorical ? 3 : 0};
}

void check_postprocess(Type type, Shape shape, Postprocess mode, const Values& logits,
                       const Values& want) {
  test::Numbers x(shape, logits);
  test::FreshTape fresh;
  const Tensor y = postprocess(fresh.tape, node(type), x.tensor(), mode);
  CHECK(y.shape == shape);
  CHECK(y.has_grad() == (mode == Postprocess::kSoft));
  test::check_same("value", {y.data, y.data + y.size()}, want, 1e-6);
}

TEST_CASE("postprocess: soft") {
  const auto s = [](double x) { return static_cast<Real>(1 / (1 + std::exp(-x))); };
  constexpr auto kSoft = Postprocess::kSoft;
  check_postprocess(Type::kScalar, {1, 3}, kSoft, {-4, 0, 7}, {-4, 0, 7});
  check_postprocess(Type::kMask, {1, 3}, kSoft, {-4, 0, 2}, {s(-4), Real(0.5), s(2)});
  check_postprocess(Type::kMaskOne, {2, 2}, kSoft, {0, 0, 5, 2},
                    {Real(0.5), Real(0.5), s(3), s(-3)});
  check_postprocess(Type::kPointer, {1, 2, 2}, kSoft, {1, 0, 100, 900}, {s(1), s(-1), 0, 1});
  const Real third = Real{1} / 3;
  check_postprocess(Type::kCategorical, {1, 2, 3}, kSoft, {2, 2, 2, 900, 0, 0},
                    {third, third, third, 1, 0, 0});
}

TEST_CASE("postprocess: hard; 0 is not in a mask and the first of equal ones is chosen") {
  constexpr auto kHard = Postprocess::kHard;
  check_postprocess(Type::kScalar, {1, 3}, kHard, {-4, 0, 7}, {-4, 0, 7});
  check_postprocess(Type::kMask, {1, 3}, kHard, {-4, 0, Real(0.1)}, {0, 0, 1});
  check_postprocess(Type::kMaskOne, {2, 2}, kHard, {0, 0, 2, 5}, {1, 0, 0, 1});
  check_postprocess(Type::kPointer, {1, 2, 2}, kHard, {1, 0, -9, -8}, {1, 0, 0, 1});
  check_postprocess(Type::kCategorical, {1, 2, 3}, kHard, {1, 2, 2, 0, 0, 3}, {0, 1, 0, 0, 0, 1});
}

// Log-sinkhorn puts -1e6 on the diagonal, so that two nodes can only point at each other.
TEST_CASE("postprocess: permutations by hand") {
  for (const auto mode : {Postprocess::kSoft, Postprocess::kHard}) {
    check_postprocess(Type::kPermutationPointer, {1, 1, 1}, mode, {-9}, {1});
    check_postprocess(Type::kPermutationPointer, {1, 2, 2}, mode, {7, 1, -3, 9}, {0, 1, 1, 0});
  }
  const Real half = 0.5;
  check_postprocess(Type::kPermutationPointer, {1, 3, 3}, Postprocess::kSoft,
                    {1, 1, 1, 2, 2, 2, 3, 3, 3}, {0, half, half, half, 0, half, half, half, 0});
  // Row by row nodes 0 and 2 would both point at 1; as a permutation 0 has to give way.
  check_postprocess(Type::kPermutationPointer, {1, 3, 3}, Postprocess::kHard,
                    {0, 1, 0, 0, 0, 0, 0, 9, 0}, {0, 0, 1, 1, 0, 0, 0, 1, 0});
}

TEST_CASE("postprocess: edge pointers choose among the nodes for every edge") {
  const Probe probe = {"y", Stage::kHint, Location::kEdge, Type::kPointer};
  test::Numbers x({1, 2, 2, 2}, {0, 3, 3, 0, 1, 1, 0, 0});
  test::FreshTape fresh;
  const Tensor soft = postprocess(fresh.tape, probe, x.tensor(), Postprocess::kSoft);
  CHECK(soft.shape == Shape{1, 2, 2, 2});
  CHECK(static_cast<double>(soft.data[1]) == doctest::Approx(1 / (1 + std::exp(-3.0))));
  test::check_values(postprocess(fresh.tape, probe, x.tensor(), Postprocess::kHard),
                     {0, 1, 1, 0, 1, 0, 1, 0}, 0);
}

TEST_CASE("postprocess: largest is the first of equal ones") {
  const Values x = {-3, -1, -2, -1};
  CHECK(largest(x.data(), 4) == 1);
  CHECK(largest(x.data(), 1) == 0);
}

}  // namespace
}  // namespace renar::postprocess_test
