// carry: what it copies, what flows back, and the kernel.
#include "kernels/carry.h"

#include <doctest/doctest.h>

#include "kernels/pointwise.h"
#include "tests/support_device.h"

namespace renar::carry_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("carry: numbers and gradient of a step outlive it") {
  Numbers x({3}, {1, 2, 3});
  FreshTape fresh;
  fresh.tape.begin_step();
  const Tensor y = carry(fresh.tape, x.tensor());
  fresh.tape.end_step();
  fresh.tape.begin_step();
  fresh.tape.output({64}, true);  // takes the step's scratch again
  fresh.tape.end_step();
  test::check_values(y, {1, 2, 3}, 0);
  test::run_backward(fresh.tape, y, {4, 5, 6});
  CHECK(x.grad() == std::vector<Real>{4, 5, 6});
}

// A small tensor of a device outlives its step as it is, one with a large gradient is copied.
TEST_CASE("carry: the same on the device") {
  const test::Op op = [](Tape& tape, const Inputs& in) {
    tape.begin_step();
    const Tensor y = carry(tape, relu(tape, in[0]));
    tape.end_step();
    tape.begin_step();
    tape.output(in[0].shape, true);  // takes the step's scratch again
    tape.end_step();
    return relu(tape, y);
  };
  for (const std::int64_t size : {1, 3, 300, 270'000}) {
    test::same_on_device(op, {.inputs = {Numbers::random({size}, 1)}});
  }
}

}  // namespace
}  // namespace renar::carry_test
