// The CUDA runtime as core/device.h uses it. In a build without the toolkit cuda_problem says so,
// recordings are those of fibers (core/simt_recording.h), and the rest throws or does nothing.
#pragma once

#include <cstddef>
#include <string>

namespace renar {

/// Why CUDA cannot be used here, in one line; empty: it can.
std::string cuda_problem();

/// The version of CUDA's runtime in this build, "13.0"; empty in a build without.
std::string cuda_version();

/// The name of the GPU and the version of CUDA.
std::string cuda_model();

/// What the GPU can do in a second by its clocks: operations in float32, a multiply-add is two, and
/// bytes of its memory.
struct CudaPeaks {
  double flops, bytes;
};
CudaPeaks cuda_peaks();

/// Bytes of the GPU.
std::size_t cuda_memory();
void* cuda_allocate(std::size_t bytes);
void cuda_release(void* memory);
/// Page-locked memory of the host; releasing it waits for the kernels and copies that were queued.
void* cuda_allocate_host(std::size_t bytes);
void cuda_release_host(void* memory);
/// Host or device memory on either side. To or from page-locked memory it only queues the copy.
void cuda_copy(void* to, const void* from, std::size_t bytes);
/// For all that was queued.
void cuda_wait();
void cuda_fill(void* to, int byte, std::size_t bytes);

/// While it lives, what is queued is recorded and not run.
class CudaRecording {
 public:
  CudaRecording();
  ~CudaRecording();  ///< gives up what is not finished
  CudaRecording(const CudaRecording&) = delete;
  CudaRecording& operator=(const CudaRecording&) = delete;

  /// The recording, ready to be played; `size` is how many launches, copies and fills it has.
  void* finish(std::size_t& size) const;
};
/// Whether one is being made.
bool is_recording();
/// While one lives, what is recorded goes to the lane (core/lanes.h) that was entered last. All
/// lanes begin with what was recorded before.
class CudaLanes {
 public:
  CudaLanes();
  ~CudaLanes();  ///< what is recorded next goes on from the first lane
  CudaLanes(const CudaLanes&) = delete;
  CudaLanes& operator=(const CudaLanes&) = delete;

  void enter(int lane);
  /// What was recorded last in this lane is this launch, of kMostLaunches.
  void mark(std::size_t launch);
  /// What is recorded next in this lane waits for a launch that was marked.
  void wait_for(std::size_t launch);
  /// What is recorded next waits for all lanes.
  void join();
};
/// While it lives, nothing is queued: launches, copies and fills are left out.
class CudaSilence {
 public:
  CudaSilence();
  ~CudaSilence();
  CudaSilence(const CudaSilence&) = delete;
  CudaSilence& operator=(const CudaSilence&) = delete;
};
/// Whether one lives; false on fibers, which compare what would have been queued.
bool launches_are_left_out();
void cuda_play(void* recording);
void cuda_forget(void* recording);

/// Points in the queue that tell when they were passed: queues number `point`, and the seconds from
/// one to another when both have been.
void cuda_queue_point(std::size_t point);
double cuda_seconds_between(std::size_t from, std::size_t to);
/// Queues a kernel that does nothing for about so long.
void cuda_hold_up(double seconds);

/// A named range of the calling thread for Nsight.
void nvtx_push(const char* name);
void nvtx_pop();

}  // namespace renar
