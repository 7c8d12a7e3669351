// Wishes about memory change how fast it comes, not what is in it.
#include "core/memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace renar;

TEST_CASE("memory: blocks under huge pages, and blocks too small for one, are written and read") {
  keep_freed_memory();
  for (const std::size_t megabytes : {0, 1, 5, 40}) {
    std::vector<std::uint8_t> block;
    block.reserve(megabytes << 20);
    wish_huge_pages(block.data(), block.capacity());
    block.resize(megabytes << 20, 7);
    CHECK(std::count(block.begin(), block.end(), 7) == static_cast<std::ptrdiff_t>(block.size()));
  }
  wish_huge_pages(nullptr, 0);
}
