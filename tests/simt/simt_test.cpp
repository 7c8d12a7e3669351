// The bench itself: what it finds, and that it runs a right kernel to the end in any order.
#include "core/simt.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/launch.h"
#include "core/simt_memory.h"

namespace renar::simt_test {
namespace {

using simt::Order;
using simt::Schedule;

constexpr int kBlock = 64;
constexpr Schedule kSchedules[] = {{Order::kForward, 0}, {Order::kReverse, 0},
                                   {Order::kRandom, 1},  {Order::kRandom, 2},
                                   {Order::kRandom, 3},  {Order::kOneAhead, 4}};

/// Runs the kernel under each schedule; the outputs, or what was thrown.
template <class Kernel>
std::vector<std::string> outcomes(Kernel kernel, Grid grid, std::size_t size) {
  std::vector<std::string> all;
  for (const Schedule& schedule : kSchedules) {
    simt::set_schedule(schedule);
    std::vector<int> out(size, -1);
    try {
      launch(grid, kernel, out.data());
      std::string text;
      for (const int x : out) text += std::to_string(x) + " ";
      all.push_back(text);
    } catch (const Error& error) {
      all.push_back(error.what());
    }
  }
  simt::set_schedule({});
  return all;
}

bool all_equal(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text != texts[0]) return false;
  }
  return true;
}

bool any_holds(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

// Each thread takes what its neighbour has put down, and again: two rounds of one array.
template <bool kFirst, bool kSecond>
__global__ void pass_round(int* out) {
  int* shared = shared_memory<int>();
  const int t = static_cast<int>(threadIdx.x), next = (t + 1) % kBlock;
  shared[t] = t;
  if (kFirst) __syncthreads();
  const int theirs = shared[next];
  if (kSecond) __syncthreads();
  shared[t] = theirs + 100;
  __syncthreads();
  out[blockIdx.x * kBlock + threadIdx.x] = shared[next];
}

TEST_CASE("simt: barriers make a right kernel's result the same in any order") {
  const Grid grid{{3}, {kBlock}, kBlock * sizeof(int)};
  const auto right = outcomes(pass_round<true, true>, grid, 3 * kBlock);
  CHECK(all_equal(right));
  CHECK(right[0].substr(0, 16) == "102 103 104 105 ");
}

TEST_CASE("simt: a missing barrier shows") {
  const Grid grid{{2}, {kBlock}, kBlock * sizeof(int)};
  CHECK_FALSE(all_equal(outcomes(pass_round<false, true>, grid, 2 * kBlock)));
  CHECK_FALSE(all_equal(outcomes(pass_round<true, false>, grid, 2 * kBlock)));
}

TEST_CASE("simt: the barriers of a kernel are known, and each can be left out") {
  std::vector<int> out(kBlock);
  const Grid grid{{1}, {kBlock}, kBlock * sizeof(int)};
  simt::watch_barriers();
  launch(grid, pass_round<true, true>, out.data());
  const auto barriers = simt::barriers_seen();
  REQUIRE(barriers.size() == 3);
  const auto right = outcomes(pass_round<true, true>, grid, kBlock);
  for (const simt::Barrier& barrier : barriers) {
    CHECK(barrier.text().find("simt_test.cpp:") != std::string::npos);
    simt::leave_out(barrier);
    CHECK(outcomes(pass_round<true, true>, grid, kBlock) != right);
    simt::leave_out({});
  }
  CHECK(outcomes(pass_round<true, true>, grid, kBlock) == right);
}

__global__ void barrier_of_some(int* out) {
  if (threadIdx.x < 7) __syncthreads();
  out[threadIdx.x] = 1;
}
__global__ void two_barriers(int* out) {
  if (threadIdx.x < 7) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}

TEST_CASE("simt: a barrier that only some threads reach, or two instead of one, are errors") {
  const Grid grid{{1}, {kBlock}};
  for (const std::string& outcome : outcomes(barrier_of_some, grid, kBlock)) {
    CHECK(outcome.find("57 have ended, 7 wait at a barrier") != std::string::npos);
  }
  for (const std::string& outcome : outcomes(two_barriers, grid, kBlock)) {
    CHECK(outcome.find("threads of one block wait at two barriers") != std::string::npos);
  }
}

__global__ void write_past(int* out) {
  shared_memory<int>()[kBlock] = 1;
  out[threadIdx.x] = 1;
}
__global__ void read_unwritten(int* out) {
  out[threadIdx.x] = shared_memory<float>()[threadIdx.x] != shared_memory<float>()[threadIdx.x];
}

TEST_CASE("simt: shared memory starts as NaN in every block and has a guard") {
  const Grid grid{{1}, {kBlock}, kBlock * sizeof(int)};
  CHECK(any_holds(outcomes(write_past, grid, kBlock), "wrote past its 256 bytes"));
  for (const std::string& outcome : outcomes(read_unwritten, grid, kBlock)) {
    CHECK(outcome.find('0') == std::string::npos);
  }
}

__global__ void sum_lanes(int* out) { out[threadIdx.x] = warp_sum(static_cast<int>(threadIdx.x)); }
__global__ void rotate_lanes(int* out) {
  const int from = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x), lane_index() + 1);
  const unsigned odd = __ballot_sync(kAllLanes, threadIdx.x % 2 == 1);
  const bool any = __any_sync(kAllLanes, threadIdx.x == 40);
  out[threadIdx.x] = from + (odd == 0xaaaaaaaau ? 1000 : 0) + (any ? 10000 : 0);
}
__global__ void half_a_warp(int* out) {
  const int mine = static_cast<int>(threadIdx.x);
  out[mine] = mine % 32 < 16 ? __shfl_xor_sync(0xffffu, mine, 1) : -mine;
}
__global__ void lanes_missing(int* out) {
  if (threadIdx.x == 3) return;
  out[threadIdx.x] = __shfl_xor_sync(kAllLanes, 1, 1);
}

TEST_CASE("simt: operations of a warp") {
  const Grid grid{{1}, {kBlock}};
  const auto sums = outcomes(sum_lanes, grid, kBlock);
  CHECK(all_equal(sums));
  CHECK(sums[0].substr(0, 8) == "496 496 ");
  CHECK(any_holds(sums, "1520 1520 "));
  const auto rotated = outcomes(rotate_lanes, grid, kBlock);
  CHECK(all_equal(rotated));
  CHECK(rotated[0].substr(0, 10) == "1001 1002 ");
  CHECK(any_holds(rotated, " 1000 11033 "));  // lane 31 takes that of lane 0
  const auto halves = outcomes(half_a_warp, grid, kBlock);
  CHECK(all_equal(halves));
  CHECK(halves[0].substr(0, 8) == "1 0 3 2 ");
}

TEST_CASE("simt: a mask that names a lane which is elsewhere is an error, and the bench goes on") {
  for (const std::string& outcome : outcomes(lanes_missing, {{1}, {kBlock}}, kBlock)) {
    CHECK(outcome.find("31 in an operation of their warp") != std::string::npos);
  }
  CHECK(all_equal(outcomes(sum_lanes, {{1}, {kBlock}}, kBlock)));
}

__global__ void indices(int* out) {
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y + thread] =
      static_cast<int>(blockIdx.x * 1000 + blockIdx.y * 100 + threadIdx.x * 10 + threadIdx.y);
}

TEST_CASE("simt: indices of grids of two axes") {
  const auto all = outcomes(indices, {{2, 2}, {2, 2}}, 16);
  CHECK(all_equal(all));
  CHECK(all[0] == "0 10 1 11 1000 1010 1001 1011 100 110 101 111 1100 1110 1101 1111 ");
}

TEST_CASE("launch: a grid that no GPU takes is refused; an empty one does nothing") {
  int out = 0;
  CHECK_THROWS_AS(launch({{1}, {2048}}, sum_lanes, &out), Error);
  CHECK_THROWS_AS(launch({{1}, {32}, 64 * 1024}, sum_lanes, &out), Error);
  CHECK_THROWS_AS(launch({{1, 70000}, {32}}, sum_lanes, &out), Error);
  launch({{0}, {32}}, sum_lanes, &out);
  CHECK(out == 0);
}

// Not under the sanitizers, which map far more than such a limit for themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// KiB that the process has and that count for its limit.
std::size_t data_in_use() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kibibytes = 0;
    if (word == "VmData:" && status >> kibibytes) return kibibytes;
  }
  return 0;
}

TEST_CASE("simt: memory beyond what the process may have is an error, and goes on after it") {
  constexpr std::size_t kBlockBytes = 40 << 20;
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_DATA, &before) == 0);
  rlimit small = before;
  small.rlim_cur = (data_in_use() << 10) + (64 << 20);
  REQUIRE(setrlimit(RLIMIT_DATA, &small) == 0);
  auto* one = static_cast<char*>(simt::allocate(kBlockBytes));
  auto* other = static_cast<char*>(simt::allocate(kBlockBytes));  // locked: it does not count yet
  CHECK_THROWS_WITH_AS(simt::Unlocked(), doctest::Contains("out of memory"), Error);
  REQUIRE(setrlimit(RLIMIT_DATA, &before) == 0);
  {
    const simt::Unlocked memory;
    one[kBlockBytes - 1] = other[kBlockBytes - 1] = 1;
  }
  simt::release(one);
  simt::release(other);
}
#endif

}  // namespace
}  // namespace renar::simt_test
