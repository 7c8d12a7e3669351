// accumulate: by hand, and the kernel against it.
#include "kernels/accumulate.h"

#include <doctest/doctest.h>

#include "tests/support_device.h"

namespace renar::accumulate_test {
namespace {

using test::Inputs;
using test::Numbers;

TEST_CASE("accumulate: by hand") {
  const std::vector<Real> from{1, 2, 3};
  std::vector<Real> to{10, 20, 30};
  accumulate(Device::kCpu, 3, from.data(), to.data());
  CHECK(to == std::vector<Real>{11, 22, 33});
  accumulate(Device::kCpu, 2, from.data(), to.data(), -2);
  CHECK(to == std::vector<Real>{9, 18, 33});
}

TEST_CASE("accumulate: the kernel does as the definition") {
  for (const std::int64_t size : {1, 255, 256, 257, 1000}) {
    const test::Op op = [&](Tape& tape, const Inputs& in) {
      const Tensor sum = tape.output(in[1].shape, {});
      queue_copy(tape.device(), sum.data, in[1].data, sum.size() * sizeof(Real));
      accumulate(tape.device(), size, in[0].data, sum.data, Real(0.5));
      return sum;
    };
    test::same_on_device(
        op, {.inputs = {}, .constants = {Numbers::random({size}, 1), Numbers::random({size}, 2)}});
  }
}

}  // namespace
}  // namespace renar::accumulate_test
