// What the operating system is asked about memory, and asked for. Where it does not know a wish,
// nothing happens.
#pragma once

#include <cstddef>

namespace renar {

/// Tells glibc to keep freed memory instead of giving it back to the kernel, which would page it in
/// again, zeroed, for the next batch: a third of the time of making data. Call it once, at the
/// start.
void keep_freed_memory();

/// Asks Linux for huge pages in [begin, begin + bytes), which was not written to yet: for blocks of
/// many megabytes, whose first touch costs more than all that is done with them.
void wish_huge_pages(void* begin, std::size_t bytes);

/// Bytes that the machine has; 0 where nobody says.
std::size_t physical_memory();

/// From now on an allocation that takes this process beyond the machine's memory throws
/// std::bad_alloc; else the kernel would grant it and kill the process when it is used. Not under
/// the address sanitizer, which maps terabytes.
void fail_beyond_physical_memory();

}  // namespace renar
