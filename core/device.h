// Where a tensor's numbers lie and its ops run.
//
//   kCpu   this process; the definitions of the ops
//   kCuda  a GPU; the kernels of kernels/*.cu. Only in a build with the CUDA toolkit.
//   kSimt  the same kernels, run thread by thread on the CPU (core/simt.h). Slow, for tests: what
//          can be wrong with a kernel shows there without a GPU. Only in a build without CUDA.
//
// Work on a device is queued in order; copies to the host wait for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace renar {

enum class Device { kCpu, kSimt, kCuda };

constexpr std::size_t kAlignment = 64;  // bytes of a cache line, and of the widest vector

/// "cpu", "simt" or "cuda".
std::string_view name_of(Device device);

/// To what the factors of matrix products are rounded on a device (core/warp_mma.h): not at all, or
/// to tf32 or bf16, which tensor cores multiply. Sums and all that is stored stay Real.
enum class Precision { kFp32, kTf32, kBf16 };

/// "fp32", "tf32" or "bf16", and back; throws renar::UsageError for another name.
std::string_view name_of(Precision precision);
Precision find_precision(std::string_view name);

/// Whether kCuda is in this build; else kSimt is.
bool built_with_cuda();

/// What a device is called by its maker, for kCuda: "NVIDIA H200, CUDA 13.0".
std::string model_of(Device device);

/// The device of that name. `auto` is the GPU where this build and this machine have one, else the
/// CPU; `why_cpu` then says why. Throws renar::Error with one line where the named device cannot be
/// used: not in this build, no GPU, a driver that is too old.
Device find_device(std::string_view name, std::string* why_cpu = nullptr);

/// Bytes that the device has, those in use too; 0 where nobody says.
std::size_t memory_of(Device device);

/// Memory of the device, 64-byte aligned. Throws renar::Error with the size where there is not
/// enough.
void* device_allocate(Device device, std::size_t bytes);
void device_release(Device device, void* memory);

/// Memory of the host beside a device: for what is sent, what comes back, and closures. 64-byte
/// aligned; for a GPU it is page-locked, so that the host need not wait while it is read or
/// written. It is released after all sends have arrived.
void* host_allocate(Device device, std::size_t bytes);
void host_release(Device device, void* memory);

/// Each is queued behind the kernels before it. copy_to_device and copy_to_host then wait for it
/// and for all that was queued before. `from` of send_to_device must stay as it is until one of
/// these, or wait_for_sends, has waited. queue_copy is between any two memories, not waited for.
void copy_to_device(Device device, void* to, const void* from, std::size_t bytes);
void send_to_device(Device device, void* to, const void* from, std::size_t bytes);
void copy_to_host(Device device, void* to, const void* from, std::size_t bytes);
void queue_copy(Device device, void* to, const void* from, std::size_t bytes);
void fill_bytes(Device device, void* to, int byte, std::size_t bytes);

/// Waits for all that was queued.
void wait_for_all(Device device);
/// Waits until all that was sent has arrived; at once where the host has waited since.
void wait_for_sends(Device device);

/// What this process has done with devices other than the CPU: it allocated memory there, or for
/// sending, and waited for them. In steady state an update waits once and allocates nothing.
struct DeviceCounts {
  std::int64_t allocations, waits;
};
DeviceCounts device_counts();

}  // namespace renar
