// The CUDA model of threads on one CPU core: what a kernel sees of CUDA, as plain C++.
//
// Without nvcc the kernels of kernels/*.cu compile against this header and run thread by thread on
// fibers (Boost.Context). A block runs until all its threads are done; threads take turns only
// where they wait: at a barrier of the block or at an operation of the warp. In which order they
// run is the schedule's choice, and every choice is one that a GPU may take, so a result that
// depends on it is a race. Also found: barriers that not all threads of a block reach, or that they
// reach at different places; warp operations whose mask names a lane that is elsewhere; shared
// memory read before it was written (it starts as NaN) or written past its end.
//
// One launch at a time, blocks one after another: what two blocks do to each other is not seen but
// by running them in another order, or by ThreadSanitizer (core/simt_races.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __host__

namespace renar::simt {

struct Extent {
  unsigned x = 1, y = 1;

  constexpr unsigned count() const { return x * y; }
};

/// In which order the threads of a block, the blocks and the launches that wait take their turns.
enum class Order {
  kForward,
  kReverse,
  kRandom,    ///< anew at every turn
  kOneAhead,  ///< one thread runs as far as it can before any other starts
};
struct Schedule {
  Order order = Order::kForward;
  std::uint64_t seed = 0;
};
void set_schedule(const Schedule& schedule);
/// The schedule's choice among so many launches that do not need each other (core/collected.h).
std::size_t next_launch(std::size_t ready);

/// Whether run_grid looks for races, and throws (core/simt_races.h).
bool watches_races();

/// For tests of tests: the barriers (of blocks and warps) that kernels have come to since the last
/// call of watch_barriers, and one of them made to do nothing. A kernel whose barrier can be left
/// out unseen has one too many, or a test too few.
struct Barrier {
  std::source_location at;

  bool operator==(const Barrier& other) const;
  std::string text() const;
};
void watch_barriers();
std::vector<Barrier> barriers_seen();
void leave_out(const std::optional<Barrier>& barrier);

/// Whether kernels are left out from now on, all of them: for counting them where running them
/// would take hours. What they would have written is then not there.
void leave_out_kernels(bool on);

/// Runs `body(arguments)` for every thread of the grid. `shared_bytes` is each block's shared
/// memory. Throws renar::Error, see above; what the grid has written is then of no use.
void run_grid(Extent blocks, Extent threads, std::size_t shared_bytes,
              void (*body)(const void* arguments), const void* arguments);

/// The shared memory of the running block.
void* shared_bytes();

void block_barrier(std::source_location at);

/// What the lanes of a warp do together: each puts down `bits`, and when all lanes of `mask` have,
/// each takes up those of lane `source`; for a vote bit i of the result is whether lane i put down
/// anything but 0. Of these, __syncwarp alone (kBarrier) orders what lanes do in memory.
enum class WarpOp { kExchange, kVote, kBarrier, kTogether };
std::uint64_t warp_operation(WarpOp op, unsigned mask, std::uint64_t bits, unsigned source,
                             std::source_location at);
/// What a lane brings to a product of its whole warp (core/warp_mma.h), and takes from it.
struct Fragments {
  std::uint32_t a[4], b[2];
  float c[4];
};
/// When all 32 lanes have come, `work` runs once on what they brought, lane by lane.
using WarpWork = void (*)(Fragments* of_lanes);
void warp_together(WarpWork work, Fragments& mine, std::source_location at);
unsigned lane();
void warp_barrier(unsigned mask, std::source_location at);

template <class T>
T exchange(unsigned mask, T value, unsigned source, std::source_location at) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp_operation(WarpOp::kExchange, mask, bits, source, at);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace renar::simt

// What CUDA declares in every kernel. A switch of fibers sets the indices.
inline renar::simt::Extent threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads(std::source_location at = std::source_location::current()) {
  renar::simt::block_barrier(at);
}
inline void __syncwarp(unsigned mask = ~0u,
                       std::source_location at = std::source_location::current()) {
  renar::simt::warp_barrier(mask, at);
}
template <class T>
T __shfl_sync(unsigned mask, T value, int source,
              std::source_location at = std::source_location::current()) {
  return renar::simt::exchange(mask, value, static_cast<unsigned>(source) % 32, at);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int other,
                  std::source_location at = std::source_location::current()) {
  return renar::simt::exchange(mask, value, renar::simt::lane() ^ static_cast<unsigned>(other), at);
}
inline unsigned __ballot_sync(unsigned mask, bool yes,
                              std::source_location at = std::source_location::current()) {
  return static_cast<unsigned>(
      renar::simt::warp_operation(renar::simt::WarpOp::kVote, mask, yes ? 1 : 0, 0, at));
}
inline bool __any_sync(unsigned mask, bool yes,
                       std::source_location at = std::source_location::current()) {
  return __ballot_sync(mask, yes, at) != 0;
}
