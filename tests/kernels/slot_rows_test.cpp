// slot_rows: by hand, and the kernels against it.
#include "kernels/slot_rows.h"

#include <doctest/doctest.h>

#include "tests/support_device.h"

namespace renar::slot_rows_test {
namespace {

using test::Inputs;
using test::Numbers;

constexpr std::int32_t kSlots[] = {2, kNoSlot, 0};
const SlotRows kRows{.count = 3, .slot = kSlots, .slots = 4, .each = 2};

TEST_CASE("slot_rows: by hand, up and down") {
  const std::vector<Real> state{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<Real> x{10, 20, 30, 40, 50, 60};
  take_up_rows(Device::kCpu, kRows, state.data(), x.data());
  CHECK(x == std::vector<Real>{5, 6, 30, 40, 1, 2});
  std::vector<Real> put(8, -1);
  put_down_rows(Device::kCpu, kRows, x.data(), put.data());
  CHECK(put == std::vector<Real>{1, 2, -1, -1, 5, 6, -1, -1});
}

TEST_CASE("slot_rows: the kernels do as the definition") {
  for (const std::int64_t each : {1, 5, 33, 260}) {
    for (const bool up : {true, false}) {
      const test::Op op = [&](Tape& tape, const Inputs& in) {
        std::int32_t* here = tape.host_array<std::int32_t>(kRows.count);
        std::copy_n(kSlots, kRows.count, here);
        SlotRows rows = kRows;
        rows.slot = tape.send(here, rows.count);
        rows.each = each;
        const Tensor &from = in[up ? 1 : 0], &over = in[up ? 0 : 1];
        const Tensor to = tape.output(over.shape, {});
        queue_copy(tape.device(), to.data, over.data,
                   static_cast<std::size_t>(to.size()) * sizeof(Real));
        (up ? take_up_rows : put_down_rows)(tape.device(), rows, from.data, to.data);
        return to;
      };
      test::same_on_device(op,
                           {.inputs = {},
                            .constants = {Numbers::random({kRows.count, each}, 1),  // of samples
                                          Numbers::random({kRows.slots, each}, 2)}});
    }
  }
}

}  // namespace
}  // namespace renar::slot_rows_test
