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
#include <cstdint>

namespace renar {

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
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#else
  return 0;
#endif
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

}  // namespace renar
