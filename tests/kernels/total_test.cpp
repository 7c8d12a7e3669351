// total: by hand, and the kernel against it. That of several blocks is seen in squared_error_test.
#include "kernels/total.h"

#include <doctest/doctest.h>

#include "tests/support_device.h"

namespace renar {
namespace {

using test::Inputs;

TEST_CASE("total: by hand; it adds") {
  const double costs[] = {1, 2, 4};
  double sum = 100;
  add_total_of(Device::kCpu, 3, costs, 0.5, &sum);
  CHECK(sum == 103.5);
}

TEST_CASE("total: the kernel does as the definition") {
  for (const std::int64_t count : {1, 2, 31, 33, 255, 256, 257, 2048, 5000}) {
    std::vector<double> costs;
    for (const Real x : test::random_values(count, 1)) costs.push_back(static_cast<double>(x));
    test::same_loss_on_device(
        [&](Tape& tape, const Inputs&, double& sum) {
          add_total_of(tape.device(), count, tape.send(costs.data(), count), 0.3, &sum);
        },
        {.inputs = {}});
  }
}

TEST_CASE("total: no barrier can be left out") {
  constexpr std::int64_t kCount = 600;
  const std::vector<double> costs(kCount, 0.7);
  test::loss_needs_every_barrier(
      [&](Tape& tape, const Inputs&, double& sum) {
        add_total_of(tape.device(), kCount, tape.send(costs.data(), kCount), 0.3, &sum);
      },
      {.inputs = {}});
}

}  // namespace
}  // namespace renar
