// total: sum += scale * (cost(0) + .. + cost(count - 1)), what every loss ends with.
//
// `cost` is a named functor that holds pointers and numbers: double operator()(std::int64_t i), 0
// for what does not count. A cost is computed in Real, their total in double. `sum` lies where the
// tape's device is: on the host nobody but the CPU's ops may read it.
//
// On a device a thread adds up its costs, a warp its threads', thread 0 of a block its warps' and,
// where there are several blocks, one more block what they found. Who adds what depends on `count`
// alone: the same bits in every run and on every GPU.
#pragma once

#include "core/launch.h"
#include "core/tape.h"

namespace renar {

/// Enough for a thread to hide the latency of its reads, and few enough that the small losses of
/// node hints (512 costs for 32 samples of 16 nodes) take one block, thus one launch.
constexpr int kCostsOfThread = 8;
constexpr std::int64_t kCostsOfBlock = kCostsOfThread * kThreads;
constexpr Grid one_sum_each(std::int64_t blocks) { return {{blocks}, {kThreads}, kBlockSumBytes}; }

/// One block: sum += scale * total.
template <class Cost>
__global__ void add_costs(std::int64_t count, Cost cost, double scale, double* sum) {
  double mine = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kThreads) mine += cost(i);
  const double total = block_sum(mine);
  if (threadIdx.x == 0) *sum += scale * total;
}

/// totals[b] is of the b-th kCostsOfBlock costs.
template <class Cost>
__global__ void sum_costs(std::int64_t count, Cost cost, double* totals) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kCostsOfBlock;
  const std::int64_t end = begin + kCostsOfBlock < count ? begin + kCostsOfBlock : count;
  double mine = 0;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kThreads) mine += cost(i);
  const double total = block_sum(mine);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

/// The same of costs that lie in memory of the device.
void add_total_of(Device device, std::int64_t count, const double* costs, double scale,
                  double* sum);

template <class Cost>
void add_total(Tape& tape, std::int64_t count, const Cost& cost, Real scale, double& sum) {
  const double factor = static_cast<double>(scale);
  if (tape.device() == Device::kCpu) {
    double total = 0;
    for (std::int64_t i = 0; i < count; ++i) total += cost(i);
    sum += factor * total;
  } else if (count <= kCostsOfBlock) {
    launch(one_sum_each(1), add_costs<Cost>, count, cost, factor, &sum);
  } else {
    const std::int64_t blocks = blocks_for(count, kCostsOfBlock);
    double* totals = tape.array<double>(blocks);
    launch(one_sum_each(blocks), sum_costs<Cost>, count, cost, totals);
    add_total_of(tape.device(), blocks, totals, factor, &sum);
  }
}

}  // namespace renar
