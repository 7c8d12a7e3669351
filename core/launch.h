// How a kernel is started: by CUDA where nvcc compiles, else on fibers (core/simt.h).
//
//   __global__ void scale_kernel(std::int64_t size, Real factor, Real* x) {
//     const std::int64_t i = thread_index();
//     if (i < size) x[i] *= factor;
//   }
//   launch(one_thread_each(size), scale_kernel, size, factor, x);
//
// for_each is the common case, an element a thread, whose formula the CPU runs too. It says what it
// touches, is collected (core/collected.h) and started beside others of its kind:
//
//   struct Scale {
//     Real factor;
//     Real* x;
//     Touched touched(std::int64_t count) const { return Touched().writes(x, count); }
//     RENAR_HOST_DEVICE void operator()(std::int64_t i) const { x[i] *= factor; }
//   };
//   for_each(device, size, Scale{factor, x});
//
// Shared memory is always the launch's (no static __shared__), so that its size is checked in one
// place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/collected.h"
#include "core/cuda.h"
#include "core/device.h"
#include "core/device_code.h"
#include "core/profile.h"
#include "core/tensor.h"
#include "core/text.h"

#ifdef __CUDACC__
#include <cuda_runtime_api.h>
#else
#include "core/simt.h"
#include "core/simt_recording.h"
#endif

namespace renar {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kThreads = 256;  // of a block, where nothing speaks for another number
constexpr std::size_t kMostShared = 48 * 1024;  // bytes that a block is given unasked

struct Grid {
  struct Extent {
    std::int64_t x = 1, y = 1;
  };
  Extent blocks;
  Extent threads;
  std::size_t shared_bytes = 0;  // of a block
};

constexpr std::int64_t blocks_for(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}
constexpr Grid one_thread_each(std::int64_t count) {
  return {{blocks_for(count, kThreads)}, {kThreads}};
}
/// kThreads / kWarp warps a block, a warp for each of `count` things.
constexpr Grid one_warp_each(std::int64_t count) { return one_thread_each(count * kWarp); }

/// Throws renar::Error where a grid is beyond what CUDA takes.
void check_grid(const Grid& grid);

#ifdef __CUDACC__

/// Where work is queued: the one queue or, of a recording, the lane that was entered last.
cudaStream_t stream();
void check_launch();

/// Starts a kernel ahead of what is collected: for those that are.
template <class... P, class... A>
void launch_collected(const Grid& grid, void (*kernel)(P...), A&&... arguments) {
  if (grid.blocks.x * grid.blocks.y == 0 || launches_are_left_out()) return;
  check_grid(grid);
  count_launch();
  const dim3 blocks(static_cast<unsigned>(grid.blocks.x), static_cast<unsigned>(grid.blocks.y));
  const dim3 threads(static_cast<unsigned>(grid.threads.x), static_cast<unsigned>(grid.threads.y));
  kernel<<<blocks, threads, grid.shared_bytes, stream()>>>(static_cast<P>(arguments)...);
  check_launch();
}

template <class T>
__device__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char renar_shared_memory[];
  return reinterpret_cast<T*>(renar_shared_memory);
}

#else

template <class... P, class... A>
void launch_collected(const Grid& grid, void (*kernel)(P...), A&&... arguments) {
  if (grid.blocks.x * grid.blocks.y == 0) return;
  check_grid(grid);
  count_launch();
  const auto run = [grid, kernel, given = std::tuple<std::remove_cvref_t<P>...>(arguments...)] {
    const auto call = [&] { std::apply(kernel, given); };
    using Call = decltype(call);
    simt::run_grid(
        {static_cast<unsigned>(grid.blocks.x), static_cast<unsigned>(grid.blocks.y)},
        {static_cast<unsigned>(grid.threads.x), static_cast<unsigned>(grid.threads.y)},
        grid.shared_bytes, [](const void* it) { (*static_cast<const Call*>(it))(); }, &call);
  };
  if (!simt::is_recording()) return run();
  simt::note(simt::given(kernel, grid, static_cast<std::remove_cvref_t<P>>(arguments)...), run);
}

template <class T>
T* shared_memory() {
  return static_cast<T*>(simt::shared_bytes());
}

#endif

template <class... P, class... A>
void launch(const Grid& grid, void (*kernel)(P...), A&&... arguments) {
  start_collected();
  launch_collected(grid, kernel, std::forward<A>(arguments)...);
}

/// Collects a kernel that none can join. `start` holds pointers and numbers, and queues it by
/// launch_collected (or a fill, core/device.h).
template <class Start>
void launch_later(const char* name, const Touched& touched, const Start& start) {
  if (launches_are_left_out()) return;
  static const CollectedKind kind{name,
                                  [](const void* given) { (*static_cast<const Start*>(given))(); }};
  static_assert(sizeof(Start) <= kMostGiven && std::is_trivially_destructible_v<Start>);
  new (add_collected(kind, touched)) Start(start);
}

/// The running thread's number in a grid of one axis, and its warp's and its lane.
__device__ inline std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t warp_index() { return thread_index() / kWarp; }
__device__ inline int lane_index() { return static_cast<int>(threadIdx.x % kWarp); }

/// The sum (largest) over the lanes of a warp of which all must call it: the same bits in every
/// lane and in every run.
template <class T>
__device__ T warp_sum(T value) {
  for (int other = kWarp / 2; other > 0; other /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, other);
  }
  return value;
}
template <class T>
__device__ T warp_max(T value) {
  for (int other = kWarp / 2; other > 0; other /= 2) {
    const T theirs = __shfl_xor_sync(kAllLanes, value, other);
    value = theirs > value ? theirs : value;
  }
  return value;
}

/// The sum over a block of kThreads threads with kBlockSumBytes of shared memory, the same in all:
/// a warp adds up its threads' values, each thread then the warps', in their order. To be called
/// once in a kernel: it fills the shared memory.
constexpr std::size_t kBlockSumBytes = kThreads / kWarp * sizeof(double);
__device__ inline double block_sum(double value) {
  double* of_warps = shared_memory<double>();
  value = warp_sum(value);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  double sum = 0;
  for (int w = 0; w < kThreads / kWarp; ++w) sum += of_warps[w];
  return sum;
}

/// Blocks that sum columns: a warp's width of them, so that a warp reads whole lines, and as many
/// warps as hide the latency of memory; warp w (threadIdx.y) has rows w, w + kRowsAtOnce, ..
constexpr int kRowsAtOnce = 16;
constexpr Grid column_blocks(Grid::Extent blocks) {
  return {blocks, {kWarp, kRowsAtOnce}, kRowsAtOnce * kWarp * sizeof(Real)};
}
/// For the first warp of such a block the sum of all warps' values at its column, in their order:
/// the same bits in every run. All threads of the block must call it, once.
__device__ inline Real column_sum(Real value) {
  Real* partial = shared_memory<Real>();  // (kRowsAtOnce, kWarp)
  partial[threadIdx.y * kWarp + threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.y != 0) return 0;
  for (int other = 1; other < kRowsAtOnce; ++other) {
    value += partial[other * kWarp + threadIdx.x];
  }
  return value;
}

/// What one kernel does for several ops, one after another in the grid.
template <class F>
struct Jobs {
  struct Job {
    F f;
    std::int64_t count;
    std::int64_t room;  // of the grid's threads, or warps: whole warps, so that lines stay whole
  };
  // A launch carries them all: some hundred bytes, and where that is few jobs, what it can carry.
  static constexpr int kMost =
      std::max(std::min<int>(1024 / sizeof(Job), 16), std::min<int>(4000 / sizeof(Job), 4));
  static_assert(kMost > 0);

  int count;
  Job job[kMost];
};

enum class JobsBy { kElements, kRows };

template <class F, JobsBy kBy>
__global__ void do_jobs(const Jobs<F> RENAR_GIVEN all) {
  std::int64_t at = kBy == JobsBy::kRows ? warp_index() : thread_index();
  for (int j = 0; j < all.count; ++j) {
    const auto& job = all.job[j];
    if (at < job.room) {
      if (at < job.count) job.f(at);
      return;
    }
    at -= job.room;
  }
}

template <class F, JobsBy kBy>
void start_jobs(const void* given) {
  static_assert(sizeof(Jobs<F>) <= 4096);  // what a kernel can be given
  const auto& all = *static_cast<const Jobs<F>*>(given);
  std::int64_t room = 0;
  for (int j = 0; j < all.count; ++j) room += all.job[j].room;
  launch_collected(kBy == JobsBy::kRows ? one_warp_each(room) : one_thread_each(room),
                   do_jobs<F, kBy>, all);
}

template <class F, JobsBy kBy>
void collect_job(std::int64_t count, const F& f) {
  if (count == 0 || launches_are_left_out()) return;
  static const CollectedKind kind{name_of_type<F>(), start_jobs<F, kBy>};
  const auto may_join = [](const Jobs<F>& all, bool meets) {
    return !meets && all.count < Jobs<F>::kMost;
  };
  Jobs<F>& all = collect<Jobs<F>>(kind, f.touched(count), may_join);
  const std::int64_t room = kBy == JobsBy::kRows ? count : blocks_for(count, kWarp) * kWarp;
  typename Jobs<F>::Job& job = all.job[all.count++];
  job.f = f;
  job.count = count;
  job.room = room;
}

/// On a device: f(i) for every i below count, each on its own, by a thread. f says what it touches.
template <class F>
void for_each_on_device(std::int64_t count, const F& f) {
  collect_job<F, JobsBy::kElements>(count, f);
}

/// f(i) for every i below count, each on its own: f is a named functor that holds pointers and
/// numbers, and says what it touches.
template <class F>
void for_each(Device device, std::int64_t count, const F& f) {
  if (device == Device::kCpu) {
    for (std::int64_t i = 0; i < count; ++i) f(i);
  } else {
    for_each_on_device(count, f);
  }
}

/// On a device: f(r) for every row r below rows, by the lanes of a warp, as rows are a few classes
/// or up to some hundred nodes or channels long. It says what it touches.
template <class F>
void for_each_row(std::int64_t rows, const F& f) {
  collect_job<F, JobsBy::kRows>(rows, f);
}

}  // namespace renar
