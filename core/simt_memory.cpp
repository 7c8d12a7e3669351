#include "core/simt_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/check.h"
#include "core/memory.h"

namespace renar::simt {
namespace {

/// A launch changes the access of every page: with large ones that takes a fifth of the time.
constexpr std::size_t kPage = 4096, kLargePage = 2 << 20;

struct Memory {
  std::recursive_mutex mutex;
  std::map<void*, std::size_t> blocks;
  int unlocked = 0;

  /// False where the process may not have so much: what is locked does not count.
  bool protect(int access) const {
    bool done = true;
    for (const auto& [begin, bytes] : blocks) done = mprotect(begin, bytes, access) == 0 && done;
    return done;
  }
  void lock() {
    if (--unlocked == 0) protect(PROT_NONE);
  }
};

Memory& memory() {
  static Memory only;
  return only;
}

// Where `align` divides the address; what is before and behind is given back. Null: no room.
std::byte* map_aligned(std::size_t size, std::size_t align, int access) {
  std::size_t room = size + align;
  void* start = mmap(nullptr, room, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  void* aligned = start;
  std::align(align, size, aligned, room);
  auto* block = static_cast<std::byte*>(aligned);
  if (const std::size_t before = size + align - room; before > 0) munmap(start, before);
  if (const std::size_t behind = room - size; behind > 0) munmap(block + size, behind);
  return block;
}

}  // namespace

void* allocate(std::size_t bytes) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const int access = m.unlocked > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  const std::size_t page = bytes < kLargePage / 2 ? kPage : kLargePage;
  const std::size_t size = (bytes / page + 1) * page;
  std::byte* block = map_aligned(size, page, access);
  RENAR_CHECK(block != nullptr, "[simt] out of memory: {} MiB wanted",
              static_cast<std::int64_t>(bytes >> 20));
  if (page == kLargePage) wish_huge_pages(block, size);
  m.blocks[block] = size;
  return block;
}

void release(void* block) {
  if (block == nullptr) return;
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  munmap(block, m.blocks.at(block));
  m.blocks.erase(block);
}

std::vector<std::span<std::byte>> all_memory() {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  std::vector<std::span<std::byte>> all;
  for (const auto& [begin, bytes] : m.blocks)
    all.emplace_back(static_cast<std::byte*>(begin), bytes);
  return all;
}

Unlocked::Unlocked(bool on) : on_(on) {
  if (!on_) return;
  memory().mutex.lock();
  Memory& m = memory();
  if (m.unlocked++ > 0 || m.protect(PROT_READ | PROT_WRITE)) return;
  std::size_t bytes = 0;
  for (const auto& block : m.blocks) bytes += block.second;
  m.lock();
  m.mutex.unlock();
  throw Error(
      message_of("[simt] out of memory: {} MiB wanted in all; a smaller --batch, --hidden "
                 "or --memory-budget takes less",
                 static_cast<std::int64_t>(bytes >> 20)));
}

Unlocked::~Unlocked() {
  if (!on_) return;
  memory().lock();
  memory().mutex.unlock();
}

}  // namespace renar::simt
