// Races that ThreadSanitizer has to find in a kernel (core/simt_races.h) whatever the schedule, and
// orders that it must not take for one. Only in race_tests: without the sanitizer nobody sees them.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/check.h"
#include "core/launch.h"

namespace renar {
namespace {

using simt::Order;
using simt::Schedule;

constexpr int kBlock = 64;
constexpr Schedule kSchedules[] = {
    {Order::kForward, 0}, {Order::kReverse, 0}, {Order::kRandom, 1}, {Order::kOneAhead, 2}};

/// What the launch is accused of, or nothing; the same under every schedule but for the words.
template <class Kernel>
std::string accusation(const Grid& grid, Kernel kernel, int* out) {
  std::string text;
  std::size_t accused = 0;
  for (const Schedule& schedule : kSchedules) {
    simt::set_schedule(schedule);
    try {
      launch(grid, kernel, out);
    } catch (const Error& error) {
      text = error.what();
      ++accused;
    }
  }
  simt::set_schedule({});
  CHECK((accused == 0 || accused == std::size(kSchedules)));
  return text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <bool kBarrier>
__global__ void reverse(int* out) {
  int* shared = shared_memory<int>();
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kBarrier) __syncthreads();
  out[thread_index()] = shared[blockDim.x - 1 - threadIdx.x];
}

TEST_CASE("races: a barrier orders the threads of a block, and nothing else does") {
  std::vector<int> out(3 * kBlock);
  const Grid grid{{3}, {kBlock}, kBlock * sizeof(int)};
  CHECK(accusation(grid, reverse<true>, out.data()).empty());
  const std::string race = accusation(grid, reverse<false>, out.data());
  CHECK(holds(race, "a race"));
  CHECK(holds(race, "reverse<false>"));
  CHECK(holds(race, "planted_races.cpp:"));
  CHECK(accusation(grid, reverse<true>, out.data()).empty());
}

// Two rounds of one array: who is late at the first barrier reads what is written after the second.
__global__ void pass_twice(int* out) {
  int* shared = shared_memory<int>();
  const unsigned next = (threadIdx.x + 1) % blockDim.x;
  shared[threadIdx.x] = 1;
  __syncthreads();
  const int theirs = shared[next];
  __syncthreads();
  shared[threadIdx.x] = theirs + 1;
  __syncthreads();
  out[thread_index()] = shared[next];
}

TEST_CASE("races: each barrier of a kernel is missed, at its place") {
  std::vector<int> out(kBlock);
  const Grid grid{{1}, {kBlock}, kBlock * sizeof(int)};
  simt::watch_barriers();
  CHECK(accusation(grid, pass_twice, out.data()).empty());
  const auto barriers = simt::barriers_seen();
  CHECK(barriers.size() == 3);
  for (const simt::Barrier& barrier : barriers) {
    simt::leave_out(barrier);
    CHECK(holds(accusation(grid, pass_twice, out.data()), "pass_twice"));
    simt::leave_out({});
  }
}

__global__ void one_element(int* out) {
  if (threadIdx.x == 7) out[0] = static_cast<int>(blockIdx.x);
}
__global__ void neighbours_element(int* out) {
  out[thread_index()] = 1;
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x > 0) out[thread_index() - 1] = 2;
}
__global__ void read_by_all(int* out) {
  const int first = out[0];
  out[1 + thread_index()] = first;
}

TEST_CASE("races: blocks are in no order") {
  std::vector<int> out(1 + 4 * kBlock);
  CHECK(holds(accusation({{2}, {kBlock}}, one_element, out.data()), "one_element"));
  CHECK(holds(accusation({{4}, {kBlock}}, neighbours_element, out.data()), "neighbours_element"));
  CHECK(accusation({{1}, {kBlock}}, one_element, out.data()).empty());
  CHECK(accusation({{4}, {kBlock}}, read_by_all, out.data()).empty());
}

TEST_CASE("races: a launch comes after the host's work and the launches before it") {
  std::vector<int> out(1 + 4 * kBlock);
  for (int i = 0; i < 3; ++i) {
    out[0] = out[1] + 1;
    launch({{4}, {kBlock}}, read_by_all, out.data());
    CHECK(out[static_cast<std::size_t>(4 * kBlock)] == out[0]);
    launch({{1}, {kBlock}}, one_element, out.data());
  }
}

// More threads than are told apart at once, and each block's neighbour at the end of its own part.
__global__ void own_part(int* out) {
  int* shared = shared_memory<int>();
  shared[threadIdx.x] = 1;
  __syncthreads();
  out[thread_index()] += shared[(threadIdx.x + 1) % blockDim.x];
}

TEST_CASE("races: a grid of any size") {
  std::vector<int> out(20 * 512);
  CHECK(accusation({{20}, {512}, 512 * sizeof(int)}, own_part, out.data()).empty());
  CHECK(holds(accusation({{20}, {512}}, neighbours_element, out.data()), "neighbours_element"));
}

enum class Between { kNothing, kSyncwarp, kShuffle, kVote, kOtherHalf };

// A lane reads in shared memory what the lane beside it wrote.
template <Between kBetween>
__global__ void through_warp(int* out) {
  int* shared = shared_memory<int>();
  const int mine = static_cast<int>(threadIdx.x);
  shared[mine] = mine;
  int shuffled = 0;
  if (kBetween == Between::kSyncwarp) __syncwarp();
  if (kBetween == Between::kShuffle) shuffled = __shfl_xor_sync(kAllLanes, mine, 1);
  if (kBetween == Between::kVote) shuffled = __any_sync(kAllLanes, mine > 5) ? 1 : 0;
  if (kBetween == Between::kOtherHalf) __syncwarp(mine % 32 < 16 ? 0xffffu : 0xffff0000u);
  out[mine] = shared[kBetween == Between::kOtherHalf ? mine ^ 16 : mine ^ 1] + shuffled;
}

TEST_CASE("races: __syncwarp orders the lanes that it names; shuffles and votes order nothing") {
  std::vector<int> out(kBlock);
  const Grid grid{{1}, {kBlock}, kBlock * sizeof(int)};
  const auto accused = [&](auto kernel) {
    return holds(accusation(grid, kernel, out.data()), "race");
  };
  CHECK_FALSE(accused(through_warp<Between::kSyncwarp>));
  CHECK(accused(through_warp<Between::kNothing>));
  CHECK(accused(through_warp<Between::kShuffle>));
  CHECK(accused(through_warp<Between::kVote>));
  CHECK(accused(through_warp<Between::kOtherHalf>));
}

// A barrier of a warp is none of the block.
__global__ void through_other_warp(int* out) {
  int* shared = shared_memory<int>();
  shared[threadIdx.x] = 1;
  __syncwarp();
  out[threadIdx.x] = shared[threadIdx.x ^ 32];
}

TEST_CASE("races: __syncwarp orders no other warp") {
  std::vector<int> out(kBlock);
  CHECK(holds(accusation({{1}, {kBlock}, kBlock * sizeof(int)}, through_other_warp, out.data()),
              "through_other_warp"));
}

}  // namespace
}  // namespace renar
