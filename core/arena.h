// A bump allocator for everything that lives as long as one trajectory.
//
// allocate() moves a pointer; nothing is freed alone. On the first trajectory the arena grows block
// by block; reset() joins the blocks into one that holds all of it, so that from then on a training
// step makes no allocation (tests/core/arena_test.cpp and tests/nn count them).
//
// Beside a device there are arenas of the host's memory, page-locked: what is sent, what comes
// back, closures. A send is under way until the host waits for the device: reset() does where
// nobody has since, so that what is allocated next overwrites nothing that the device still reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/device.h"

namespace renar {

class Arena {
 public:
  enum class Memory {
    kOfDevice,  ///< the device's own
    kZeroed,    ///< the same, whose numbers start as zeros
    kOfHost,    ///< page-locked memory of the host: what is sent, what comes back, closures
  };

  explicit Arena(Device device = Device::kCpu, Memory memory = Memory::kOfDevice)
      : device_(device), memory_(memory) {}
  ~Arena() { release(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A place to rewind to.
  struct Mark {
    std::size_t block = 0;
    std::size_t offset = 0;
  };

  /// `count` entries of T, uninitialised or zero, 64-byte aligned. Throws std::bad_alloc,
  /// or renar::Error where a device has not enough.
  template <class T>
  T* array(std::int64_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "an arena never runs destructors");
    return static_cast<T*>(allocate(static_cast<std::size_t>(count) * sizeof(T)));
  }
  void* allocate(std::size_t bytes);

  Mark mark() const { return {block_, offset_}; }
  /// Everything allocated after `mark` is forgotten.
  void rewind(Mark mark);
  /// Zeroes everything that was ever allocated between two marks, or below one.
  void zero(Mark from, Mark to) { fill(from, to, 0); }
  void zero_below(Mark mark) { zero({}, mark); }
  /// Everything is forgotten; several blocks become one.
  void reset();

  std::size_t capacity() const;
  /// Bytes of what was allocated: the same whether it stands in several blocks or in one.
  std::size_t used() const;
  /// Adds what says whether it is still the same memory, and so gives the same addresses.
  void identify(std::vector<std::uint64_t>& as) const;
  /// Whether an address is in its memory.
  bool holds(const void* place) const;
  /// Fills fresh memory and what is rewound with NaN bytes: tests find what an op forgot to write,
  /// and who reads what is forgotten.
  void poison(bool on) { poison_ = on; }

 private:
  struct Block {
    std::byte* memory;
    std::size_t size;
    std::size_t used = 0;  // once the next block has begun
  };
  void add_block(std::size_t bytes);
  void release();
  void fill(std::byte* begin, int byte, std::size_t bytes);
  void fill(Mark from, Mark to, int byte);

  Device device_;
  Memory memory_;
  std::vector<Block> blocks_;
  std::size_t block_ = 0;
  std::size_t offset_ = 0;
  bool poison_ = false;
};

}  // namespace renar
