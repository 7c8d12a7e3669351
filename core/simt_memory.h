// The memory of Device::kSimt: as on a GPU, the host cannot touch it. It is unlocked while a kernel
// runs or a copy is made; any other access ends the process, as it would with a GPU.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace renar::simt {

/// Throws renar::Error where there is none.
void* allocate(std::size_t bytes);
void release(void* memory);
/// All blocks of it.
std::vector<std::span<std::byte>> all_memory();

/// While one with `on` lives, all of it can be touched. Throws renar::Error where that is more than
/// the process may have.
class Unlocked {
 public:
  explicit Unlocked(bool on = true);
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  bool on_;
};

}  // namespace renar::simt
