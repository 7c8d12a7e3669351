// choose_samples by hand, its gradient, and shapes that differ.
#include "kernels/choose_samples.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::choose_samples_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("choose_samples: forced samples are the truth and pass no gradient") {
  Numbers x({3, 2}, {1, 2, 3, 4, 5, 6}), truth({3, 2}, {10, 20, 30, 40, 50, 60});
  const std::uint8_t forced[] = {0, 1, 0};
  FreshTape fresh;
  choose_samples(fresh.tape, x.tensor(), truth.data(), forced);  // no gradient: takes none away
  const Tensor y = choose_samples(fresh.tape, x.tensor(), truth.data(), forced);
  test::check_values(y, {1, 2, 30, 40, 5, 6}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4, 5, 6});
  CHECK(x.grad() == std::vector<Real>{1, 2, 0, 0, 5, 6});
  Numbers other({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK_THROWS_AS(choose_samples(fresh.tape, x.tensor(), other.data(), forced), Error);
}

TEST_CASE("choose_samples: the kernels do as the definition") {
  const std::uint8_t forced[] = {0, 1, 1, 0, 0};
  for (const std::int64_t batch : {1, 2, 5}) {
    for (const Shape& shape : {Shape{batch, 1}, {batch, 3, 5}, {batch, 20, 33}, {batch, 64, 8}}) {
      test::same_on_device(
          [&](Tape& tape, const Inputs& in) {
            return choose_samples(tape, in[0], in[1], tape.send(forced, batch));
          },
          {.inputs = {Numbers::random(shape, 1)}, .constants = {Numbers::random(shape, 2)}});
    }
  }
}

TEST_CASE("choose_samples: gradient" * doctest::skip(test::kFloatBuild)) {
  Numbers truth = Numbers::random({4, 3, 2}, 7);
  const std::uint8_t forced[] = {1, 0, 0, 1};
  test::check_gradient(
      [&](Tape& tape, const Inputs& in) {
        return choose_samples(tape, in[0], truth.data(), forced);
      },
      {Numbers::random({4, 3, 2}, 1)});
}

}  // namespace
}  // namespace renar::choose_samples_test
