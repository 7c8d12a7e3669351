// What the operating system is asked about memory, and asked for. Where it does not know a wish,
// nothing happens.
#pragma once

#include <cstddef>
#include <string>

namespace renar {

/// What is said where std::bad_alloc ended the work.
constexpr const char* kOutOfMemory =
    "out of memory: fewer or smaller samples, a smaller --batch or --hidden need less";

/// Tells glibc to keep freed memory instead of giving it back to the kernel, which would page it in
/// again, zeroed, for the next batch: a third of the time of making data. Call it once, at the
/// start.
void keep_freed_memory();

/// Asks Linux for huge pages in [begin, begin + bytes), which was not written to yet: for blocks of
/// many megabytes, whose first touch costs more than all that is done with them.
void wish_huge_pages(void* begin, std::size_t bytes);

/// Bytes that this process may have: the machine's, or fewer where its control group has fewer; 0
/// where nobody says.
std::size_t physical_memory();

/// The least that the control groups of a process and those above them may have, by their version 2
/// (memory.max) or 1 (memory.limit_in_bytes). `groups` is a file like /proc/self/cgroup, `root`
/// where they are mounted. The largest std::size_t where nothing can be read or nothing is limited.
std::size_t control_group_memory(const std::string& groups, const std::string& root);

/// From now on an allocation that takes this process beyond its memory throws std::bad_alloc; else
/// the kernel would grant it and kill the process when it is used. Not under the address sanitizer,
/// which maps terabytes, and not for a GPU, whose driver maps as much.
void fail_beyond_physical_memory();

/// The most memory, in MiB, that this process has held so far, or since forget_peak_memory.
double peak_memory_mib();

/// Gives freed memory back and begins to count anew; where Linux has no /proc the count goes on.
void forget_peak_memory();

}  // namespace renar
