// loss_sum: costs of several losses add up in each of several sums. The losses' own tests hold the
// kernels against the definition for one.
#include "kernels/loss_sum.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "kernels/squared_error.h"
#include "tests/support_device.h"

namespace renar::loss_sum_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

/// 0.5 x^2 and, where a later loss is shorter, 2 times some of it; summed over x.
void add_twice(Tape& tape, Tensor x, const Real* zeros, const LossSum& sum) {
  squared_error(tape, x, zeros, test::sent(tape, Real{0.5}), sum);
  squared_error(tape, x.first((x.dim(0) + 1) / 2), zeros, test::sent(tape, 2), sum);
}

TEST_CASE("loss_sum: on a device the costs of losses of any length add up as on the CPU") {
  for (const std::int64_t count : {1, 2, 31, 33, 255, 256, 257, 600, 5000}) {
    test::same_loss_on_device(
        [](Tape& tape, const Inputs& in, double& sum) {
          add_twice(tape, in[0], in[1].data, test::open_sum(tape, sum, in[0].size()));
        },
        {.inputs = {Numbers::random({count}, 1)}, .constants = {Numbers::random({count}, 2)}});
  }
}

TEST_CASE("loss_sum: sums that are opened together stay apart, and what they held is kept") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  FreshTape fresh(Tape::Mode::kRecord, *device);
  Tape& tape = fresh.tape;
  const double start[] = {100, 200, 300};
  double* totals = tape.array<double>(3);
  copy_to_device(*device, totals, start, sizeof start);
  LossSum sums[] = {{totals[0], 3}, {totals[1], 0}, {totals[2], 2}};
  open_sums(tape, sums, 3);
  const Real numbers[] = {1, 2, 3}, zeros[] = {0, 0, 0};
  const Real* there = tape.send(numbers, 3);
  const Tensor x{const_cast<Real*>(there), nullptr, {3}};
  squared_error(tape, x, tape.send(zeros, 3), test::sent(tape, 1), sums[0]);
  squared_error(tape, x.first(2), tape.send(zeros, 3), test::sent(tape, 2), sums[2]);
  tape.backward();
  const double* found = tape.fetch(totals, 3);
  CHECK(found[0] == 100 + 1 + 4 + 9);
  CHECK(found[1] == 200);
  CHECK(found[2] == 300 + 2 * (1 + 4));

  FreshTape predicting(Tape::Mode::kPredict, *device);
  CHECK_THROWS_AS(open_sums(predicting.tape, sums, 3), Error);
}

TEST_CASE("loss_sum: no barrier can be left out") {
  test::loss_needs_every_barrier(
      [](Tape& tape, const Inputs& in, double& sum) {
        add_twice(tape, in[0], in[1].data, test::open_sum(tape, sum, in[0].size()));
      },
      {.inputs = {Numbers::random({600}, 1)}, .constants = {Numbers::random({600}, 2)}});
}

}  // namespace
}  // namespace renar::loss_sum_test
