// Wishes about memory change how fast it comes, not what is in it.
#include "core/memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "tests/core/scratch.h"
#include "tests/support.h"

namespace renar::core_memory_test {

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

TEST_CASE("memory: the peak is counted anew" * doctest::skip(test::kSanitized)) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  std::vector<std::uint8_t>(kBytes, 1);
  const double before = peak_memory_mib();
  CHECK(before >= 256);
  forget_peak_memory();
  CHECK(peak_memory_mib() < before - 128);
}

namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// Control groups as files.
struct Groups {
  Scratch scratch;

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = scratch.path(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  std::size_t memory() const {
    return control_group_memory(scratch.path("groups"), scratch.path("mount"));
  }
};

}  // namespace

TEST_CASE("memory: a control group of version 2 has the least of its limit and those above it") {
  const Groups groups;
  CHECK(groups.memory() == kNoLimit);  // no such file
  groups.write("groups", "0::/pod/box");
  CHECK(groups.memory() == kNoLimit);  // nothing mounted
  groups.write("mount/pod/box/memory.max", "max");
  CHECK(groups.memory() == kNoLimit);
  groups.write("mount/pod/memory.max", "3000");
  CHECK(groups.memory() == 3000);
  groups.write("mount/pod/box/memory.max", "2000");
  CHECK(groups.memory() == 2000);
  groups.write("mount/memory.max", "1000");  // a container's own
  CHECK(groups.memory() == 1000);
  groups.write("groups", "0::/else:where");  // seen from inside it, under a name outside
  CHECK(groups.memory() == 1000);
}

TEST_CASE("memory: a control group of version 1 is found by its controller") {
  const Groups groups;
  groups.write("groups", "5:devices:/no\nnonsense\n4:cpu,memory:/pod/box\n0::/");
  groups.write("mount/memory/no/memory.limit_in_bytes", "10");
  CHECK(groups.memory() == kNoLimit);
  groups.write("mount/memory/memory.limit_in_bytes", "9223372036854771712");  // how it says: none
  CHECK(groups.memory() == 9223372036854771712u);
  groups.write("mount/memory/pod/box/memory.limit_in_bytes", "2000");
  CHECK(groups.memory() == 2000);
}

TEST_CASE("memory: this process may have some") { CHECK(physical_memory() > (1u << 20)); }

}  // namespace renar::core_memory_test
