// copy_numbers: by hand, and the kernel against it.
#include "kernels/copy_numbers.h"

#include <doctest/doctest.h>

#include "tests/support_device.h"

namespace renar::copy_numbers_test {
namespace {

using test::Inputs;
using test::Numbers;

TEST_CASE("copy_numbers: by hand") {
  const std::vector<Real> from{1, 2, 3};
  std::vector<Real> to{10, 20, 30};
  copy_numbers(Device::kCpu, 0, from.data(), to.data());
  CHECK(to == std::vector<Real>{10, 20, 30});
  copy_numbers(Device::kCpu, 2, from.data(), to.data());
  CHECK(to == std::vector<Real>{1, 2, 30});
}

TEST_CASE("copy_numbers: the kernel does as the definition") {
  for (const std::int64_t size : {1, 255, 256, 257, 1000}) {
    const test::Op op = [&](Tape& tape, const Inputs& in) {
      const Tensor copy = tape.output(in[0].shape, {});
      copy_numbers(tape.device(), size, in[0].data, copy.data);
      return copy;
    };
    test::same_on_device(op, {.inputs = {}, .constants = {Numbers::random({size}, 1)}});
  }
}

}  // namespace
}  // namespace renar::copy_numbers_test
