// Features as products: S (V W) is (S V) W, and V W is made once a trajectory.
#include "nn/features.h"

#include <doctest/doctest.h>

#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::features_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

constexpr auto kFused = ExactAlgebra{.features_as_products = true};
constexpr auto kPlain = ExactAlgebra{.features_as_products = false};

test::Op layer(ExactAlgebra exact) {
  return [exact](Tape& tape, const Inputs& in) {
    Composer composer(tape, exact);
    return linear(tape, {composer.term({in[0], in[1]}, in[2])}, {});
  };
}

TEST_CASE("features: the product of products is the plain form in value and gradient") {
  for (const std::int64_t raw : {1, 3, 12}) {
    test::same_value_and_gradient(layer(kFused), layer(kPlain),
                                  {Numbers::random({2, 3, raw}, 1), Numbers::random({raw, 5}, 2),
                                   Numbers::random({5, 4}, 3)});
  }
}

TEST_CASE("features: dense is S V, by hand") {
  FreshTape fresh;
  Composer composer(fresh.tape, kFused);
  const Features features{test::constant(fresh.tape, {1, 2, 2}, {1, 2, 3, 1}),
                          test::constant(fresh.tape, {2, 2}, {10, 20, 1, 2})};
  test::check_values(composer.dense(features), {12, 24, 31, 62}, 0);
}

TEST_CASE("features: those without encoders are dense already") {
  FreshTape fresh;
  const Features features{test::constant(fresh.tape, {1, 2, 2}, {1, 2, 3, 1}), {}};
  const Tensor w = test::constant(fresh.tape, {2, 1}, {10, 100});
  for (const ExactAlgebra exact : {kFused, kPlain}) {
    Composer composer(fresh.tape, exact);
    CHECK(composer.dense(features).data == features.raw.data);
    test::check_values(linear(fresh.tape, {composer.term(features, w)}, {}), {210, 130}, 0);
  }
  CHECK(!features.slice(0, 1).encoders);
}

TEST_CASE("features: V W is made once for each weight and outlives the step") {
  FreshTape fresh(Tape::Mode::kPredict);
  Tape& tape = fresh.tape;
  Composer composer(tape, kFused);
  const Features features{test::constant(tape, {1, 2}, {1, 2}),
                          test::constant(tape, {2, 1}, {3, 4})};
  const Tensor w = test::constant(tape, {1, 2}, {10, 100}),
               other = test::constant(tape, {1, 1}, {7});
  tape.begin_step();
  const Term first = composer.term(features, w);
  CHECK(composer.term(features, other).w.data != first.w.data);
  tape.end_step();
  tape.begin_step();
  test::constant(tape, {64}, std::vector<Real>(64, 5));  // overwrites the last step's memory
  CHECK(composer.term(features, w).w.data == first.w.data);
  test::check_values(first.w, {30, 300, 40, 400}, 0);
  tape.end_step();
}

}  // namespace
}  // namespace renar::features_test
