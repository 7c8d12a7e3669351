#include "core/simt_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "core/check.h"

namespace renar::simt {
namespace {

struct Memory {
  std::recursive_mutex mutex;
  std::map<void*, std::size_t> blocks;
  int unlocked = 0;

  void protect(int access) const {
    for (const auto& [begin, bytes] : blocks) mprotect(begin, bytes, access);
  }
};

Memory& memory() {
  static Memory only;
  return only;
}

}  // namespace

void* allocate(std::size_t bytes) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const int access = m.unlocked > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* block = mmap(nullptr, bytes + 1, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RENAR_CHECK(block != MAP_FAILED, "[simt] out of memory: {} MiB wanted",
              static_cast<std::int64_t>(bytes >> 20));
  m.blocks[block] = bytes + 1;
  return block;
}

void release(void* block) {
  if (block == nullptr) return;
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  munmap(block, m.blocks.at(block));
  m.blocks.erase(block);
}

Unlocked::Unlocked(bool on) : on_(on) {
  if (!on_) return;
  memory().mutex.lock();
  if (memory().unlocked++ == 0) memory().protect(PROT_READ | PROT_WRITE);
}

Unlocked::~Unlocked() {
  if (!on_) return;
  if (--memory().unlocked == 0) memory().protect(PROT_NONE);
  memory().mutex.unlock();
}

}  // namespace renar::simt
