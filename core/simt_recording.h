// Recordings of what is queued for Device::kSimt: what a CUDA graph is to a GPU.
//
// While one is made, launches, copies and fills are noted and not run. Played, they run with what
// they were given by value when they were noted: kernels, grids and arguments, addresses and sizes.
//
// Who plays a recording in place of other work claims that this would queue the same. A GPU would
// not notice if it did not; here what the work would have queued is compared to the bit.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace renar::simt {

/// A launch, a copy or a fill.
struct Queued {
  std::string given;  // all that it was given by value
  std::function<void()> run;
  std::vector<std::size_t> after;  // those of the recording that must be over
};
using Recording = std::vector<Queued>;

/// From now to end_recording, what is queued is noted.
void begin_recording();
/// Empty where none was begun.
Recording end_recording();
bool is_recording();
void note(std::string given, std::function<void()> run);
/// Throws renar::Error in a recording, which can do no such thing.
void refuse_in_recording(const char* what);

/// What is noted follows what was noted before it, but between begin_lanes and end_lanes: as
/// CudaLanes says.
void begin_lanes();
void end_lanes();
void enter_lane(int lane);
void mark_note(std::size_t mark);
void wait_for_note(std::size_t mark);
void join_lanes();

/// In an order that is possible, the schedule's choice.
void play(const Recording& recording);
/// Throws renar::Error where they differ in what is queued.
void check_same(const Recording& recording, const Recording& other);

/// The bytes of some numbers. Where a compiler cannot clear what lies between a struct's members
/// they are left out. g++ 12 can, but of 48 structs of 32 bytes in a row it clears four: long
/// arrays are of structs without padding.
template <class... T>
std::string given(T... values) {
  static_assert((std::is_trivially_copyable_v<T> && ...));
  std::string all;
#if __has_builtin(__builtin_clear_padding)
  (__builtin_clear_padding(&values), ...);
  (all.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
#endif
  return all;
}

}  // namespace renar::simt
