#include "kernels/loss_sum.h"

#include <algorithm>

#include "core/check.h"
#include "core/launch.h"

namespace renar {
namespace {

// A block a sum.
__global__ void add_up(const LossSum* sums) {
  const LossSum sum = sums[blockIdx.x];
  double mine = 0;
  for (std::int64_t i = threadIdx.x; i < sum.room; i += kThreads) mine += sum.costs[i];
  const double total = block_sum(mine);
  if (threadIdx.x == 0) *sum.total += total;
}

}  // namespace

void open_sums(Tape& tape, LossSum* sums, std::int64_t count) {
  const Device device = tape.device();
  if (device == Device::kCpu) return;
  RENAR_CHECK(tape.recording(),
              "[loss_sum] {} sums on a device of a tape that predicts: costs are found by backward",
              count);
  std::int64_t room = 0;
  for (std::int64_t k = 0; k < count; ++k) room += sums[k].room;
  double* costs = tape.array<double>(room);
  fill_bytes(device, costs, 0, static_cast<std::size_t>(room) * sizeof(double));
  for (std::int64_t k = 0; k < count; ++k) {
    sums[k].costs = costs;
    costs += sums[k].room;
  }
  LossSum* here = tape.host_array<LossSum>(count);
  std::copy_n(sums, count, here);
  const LossSum* there = tape.send(here, count);
  tape.record_loss([=] { launch(Grid{{count}, {kThreads}, kBlockSumBytes}, add_up, there); });
}

}  // namespace renar
