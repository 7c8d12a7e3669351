// Bump allocation: alignment, growth block by block, one block after reset, zeroing, poison.
#include "core/arena.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::arena_test {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

template <class T>
bool all_equal(const T* data, std::int64_t count, T value) {
  return std::all_of(data, data + count, [&](T entry) { return entry == value; });
}

TEST_CASE("arena: every array starts a cache line and overlaps no other") {
  Arena arena;
  char* last_end = nullptr;
  for (const std::int64_t bytes : {1, 63, 64, 65, 1000, 7}) {
    char* place = arena.array<char>(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(place) % 64 == 0);
    if (last_end != nullptr) CHECK(place >= last_end);
    std::memset(place, 1, static_cast<std::size_t>(bytes));
    last_end = place + bytes;
  }
}

TEST_CASE("arena: grows by blocks that keep what they hold, and reset joins them into one") {
  Arena arena;
  std::int32_t* arrays[5];
  constexpr std::int64_t kCount = kMebibyte / 4 * 3 / 4;  // three quarters of the first block
  for (int k = 0; k < 5; ++k) {
    arrays[k] = arena.array<std::int32_t>(kCount);
    std::fill_n(arrays[k], kCount, k);
  }
  for (int k = 0; k < 5; ++k) CHECK(all_equal(arrays[k], kCount, k));
  const std::size_t grown = arena.capacity();
  CHECK(grown >= 5 * kCount * sizeof(std::int32_t));

  arena.reset();
  CHECK(arena.capacity() == grown);
  const std::int64_t before = test::allocations();
  std::int32_t* first = arena.array<std::int32_t>(kCount);
  for (int k = 1; k < 5; ++k) {
    CHECK(arena.array<std::int32_t>(kCount) == first + k * kCount);  // one block, no gap
  }
  arena.reset();
  CHECK(arena.array<std::int32_t>(kCount) == first);
  CHECK(test::allocations() == before);
}

TEST_CASE("arena: what is used does not depend on the blocks that hold it") {
  Arena arena;
  const auto allocate = [&] {
    std::vector<std::size_t> used;
    const Arena::Mark mark = arena.mark();
    for (int k = 0; k < 5; ++k) {
      arena.array<char>(kMebibyte * 3 / 4);
      used.push_back(arena.used());
      if (k == 2) arena.rewind(mark);
    }
    return used;
  };
  const std::vector<std::size_t> in_blocks = allocate();
  CHECK(in_blocks[2] == 3 * (kMebibyte * 3 / 4));
  CHECK(in_blocks[4] == 2 * (kMebibyte * 3 / 4));
  arena.reset();
  CHECK(allocate() == in_blocks);
}

TEST_CASE("arena: an array larger than a block gets its own") {
  Arena arena;
  arena.array<char>(10);
  char* place = arena.array<char>(5 * kMebibyte);
  std::memset(place, 7, 5 * kMebibyte);
  CHECK(arena.capacity() >= 6 * kMebibyte);
}

TEST_CASE("arena: rewind forgets what came after the mark, across blocks") {
  Arena arena;
  char* kept = arena.array<char>(100);
  const Arena::Mark mark = arena.mark();
  char* dropped = arena.array<char>(100);
  arena.array<char>(3 * kMebibyte);
  arena.rewind(mark);
  CHECK(arena.array<char>(100) == dropped);
  CHECK(dropped == kept + 128);
}

TEST_CASE("arena: zero_below zeroes everything below the mark and nothing above") {
  Arena arena;
  auto* first = arena.array<std::int32_t>(kMebibyte / 4);  // fills the first block
  auto* second = arena.array<std::int32_t>(16);            // in the second block
  const Arena::Mark mark = arena.mark();
  auto* third = arena.array<std::int32_t>(16);
  std::fill_n(first, kMebibyte / 4, 5);
  std::fill_n(second, 16, 5);
  std::fill_n(third, 16, 5);
  arena.zero_below(mark);
  CHECK(all_equal(first, kMebibyte / 4, 0));
  CHECK(all_equal(second, 16, 0));
  CHECK(all_equal(third, 16, 5));
}

TEST_CASE("arena: memory to send from is the host's, and is given again when the sends are done") {
  const auto device = test::accelerator();
  if (!device) return;
  Arena there(*device), here(*device, Arena::Memory::kOfHost);
  here.poison(true);
  const auto waits_of_reset = [&] {
    const std::int64_t before = device_counts().waits;
    here.reset();
    return device_counts().waits - before;
  };
  std::int64_t back = 0;
  for (int k = 0; k < 2; ++k) {
    auto* from = here.array<std::int64_t>(100);
    auto* to = there.array<std::int64_t>(100);
    CHECK(reinterpret_cast<std::uintptr_t>(from) % 64 == 0);
    CHECK(from[99] == -1);  // poisoned, and the host reads it
    from[99] = 7;
    send_to_device(*device, to, from, 100 * sizeof *from);
    const bool waited = k == 1;
    if (waited) copy_to_host(*device, &back, to + 99, sizeof back);
    CHECK(waits_of_reset() == (waited ? 0 : 1));
    CHECK(waits_of_reset() == 0);
  }
  CHECK(back == 7);
  here.array<char>(3 * kMebibyte);
  CHECK(waits_of_reset() == 0);  // joins the blocks
}

TEST_CASE("arena: poison fills fresh memory with NaN") {
  Arena arena;
  arena.poison(true);
  Real* first = arena.array<Real>(100);
  CHECK(std::all_of(first, first + 100, [](Real value) { return std::isnan(value); }));
  std::fill_n(first, 100, Real{1});
  arena.reset();
  CHECK(std::isnan(arena.array<Real>(100)[99]));
}

}  // namespace
}  // namespace renar::arena_test
