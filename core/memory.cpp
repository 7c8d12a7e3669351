#include "core/memory.h"

#include <cstdlib>  // defines __GLIBC__ where it is

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>

namespace renar {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// The number in a file; "max", no file and anything else are no limit.
std::size_t limit_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::size_t bytes = 0;
  return file >> bytes ? bytes : kNoLimit;
}

/// The least limit of a group and those above it. A container may see its own group as the root:
/// then the folders of its name are not there and the root has the limit.
std::size_t least_limit(const std::filesystem::path& mount, std::filesystem::path group,
                        const char* file) {
  std::size_t bytes = limit_in(mount / file);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path()) {
    bytes = std::min(bytes, limit_in(mount / group / file));
  }
  return bytes;
}

}  // namespace

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargestOnTheHeap = 32 << 20;    // the most that glibc allows; larger blocks are
  mallopt(M_MMAP_THRESHOLD, kLargestOnTheHeap);  // mapped one by one
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

void wish_huge_pages(void* begin, std::size_t bytes) {
#ifdef __linux__
  constexpr std::uintptr_t kHugePage = 2 << 20;
  const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (from + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (from + bytes) / kHugePage * kHugePage;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#else
  static_cast<void>(begin), static_cast<void>(bytes);
#endif
}

std::size_t physical_memory() {
#ifdef __linux__
  return std::min(static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
                  control_group_memory("/proc/self/cgroup", "/sys/fs/cgroup"));
#else
  return 0;
#endif
}

std::size_t control_group_memory(const std::string& groups, const std::string& root) {
  std::size_t bytes = kNoLimit;
  std::ifstream file(groups);
  // "4:memory:/group", of version 2 "0::/group"
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") bytes = std::min(bytes, least_limit(root, group, "memory.max"));
    if (controllers.find(",memory,") != std::string::npos) {
      bytes = std::min(bytes, least_limit(root + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return bytes;
}

void fail_beyond_physical_memory() {
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
  const rlim_t bytes = physical_memory();
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= bytes) return;
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts KiB
}

void forget_peak_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace renar
