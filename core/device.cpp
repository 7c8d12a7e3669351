#include "core/device.h"

#include <atomic>
#include <cstring>
#include <exception>
#include <new>

#include "core/check.h"
#include "core/cuda.h"
#include "core/launch.h"
#include "core/memory.h"
#include "core/simt_memory.h"
#include "core/simt_recording.h"

namespace renar {
namespace {

std::atomic<std::int64_t> allocations{0}, waits{0};
std::atomic<bool> sending{false};  // something was sent and the host has not waited since

void note_allocation(Device device) {
  if (device != Device::kCpu) ++allocations;
  if (device == Device::kSimt) simt::refuse_in_recording("allocate memory");
}

/// `work` is a copy or a fill, of the CPU or for fibers, which is given so much.
template <class Work, class... Given>
void run_or_note(Device device, const Work& work, Given... given) {
  if (device != Device::kSimt) return work();
  const auto run = [work] {
    const simt::Unlocked unlocked;
    work();
  };
  if (!simt::is_recording()) return run();
  simt::note(simt::given(given...), run);
}

void copy(Device device, void* to, const void* from, std::size_t bytes) {
  if (device == Device::kCuda) return cuda_copy(to, from, bytes);
  run_or_note(
      device, [=] { std::memmove(to, from, bytes); }, to, from, bytes);
}

/// A copy or fill that writes so many bytes; on a device it is collected.
template <class Work>
void queue_later(const char* name, Device device, void* to, std::size_t bytes, const Work& work) {
  if (device == Device::kCpu) return work();
  launch_later(
      name, Touched().writes(static_cast<const char*>(to), static_cast<std::int64_t>(bytes)), work);
}

/// Before memory is released that what is collected would read or write. After an error nobody
/// wants what waits, and starting it could raise another in a destructor.
void settle(Device device) {
  if (device == Device::kCpu) return;
  std::uncaught_exceptions() > 0 ? forget_collected() : start_collected();
}

}  // namespace

bool built_with_cuda() {
#ifdef RENAR_CUDA
  return true;
#else
  return false;
#endif
}

std::string model_of(Device device) {
  return device == Device::kCuda ? cuda_model() : std::string(name_of(device));
}

std::string_view name_of(Device device) {
  switch (device) {
    case Device::kCpu: return "cpu";
    case Device::kSimt: return "simt";
    case Device::kCuda: return "cuda";
  }
  return "";
}

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32: return "fp32";
    case Precision::kTf32: return "tf32";
    case Precision::kBf16: return "bf16";
  }
  return "";
}

Precision find_precision(std::string_view name) {
  for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kBf16}) {
    if (name == name_of(precision)) return precision;
  }
  throw UsageError(message_of("[device] precision {} is none of fp32, tf32 and bf16", name));
}

Device find_device(std::string_view name, std::string* why_cpu) {
  if (name == "cpu") return Device::kCpu;
  if (name == "simt") {
    RENAR_CHECK(!built_with_cuda(),
                "[device] simt runs the kernels of a build without CUDA: configure with "
                "-DRENAR_CUDA=OFF");
    return Device::kSimt;
  }
  const std::string problem = cuda_problem();
  if (name == "auto") {
    if (why_cpu != nullptr) *why_cpu = problem;
    return problem.empty() ? Device::kCuda : Device::kCpu;
  }
  RENAR_USAGE(name == "cuda", "[device] {} is none of auto, cpu, simt and cuda", name);
  RENAR_CHECK(problem.empty(), "[device] --device cuda: {}", problem);
  return Device::kCuda;
}

std::size_t memory_of(Device device) {
  return device == Device::kCuda ? cuda_memory() : physical_memory();
}

void* device_allocate(Device device, std::size_t bytes) {
  note_allocation(device);
  switch (device) {
    case Device::kCpu: return ::operator new (bytes, std::align_val_t{kAlignment});
    case Device::kSimt: return simt::allocate(bytes);
    case Device::kCuda: return cuda_allocate(bytes);
  }
  return nullptr;
}

void device_release(Device device, void* memory) {
  settle(device);
  switch (device) {
    case Device::kCpu: ::operator delete (memory, std::align_val_t{kAlignment}); return;
    case Device::kSimt: simt::release(memory); return;
    case Device::kCuda: cuda_release(memory); return;
  }
}

void* host_allocate(Device device, std::size_t bytes) {
  note_allocation(device);
  if (device == Device::kCuda) return cuda_allocate_host(bytes);
  return ::operator new (bytes, std::align_val_t{kAlignment});
}

void host_release(Device device, void* memory) {
  settle(device);
  if (device == Device::kCuda) return cuda_release_host(memory);
  ::operator delete (memory, std::align_val_t{kAlignment});
}

void copy_to_device(Device device, void* to, const void* from, std::size_t bytes) {
  queue_copy(device, to, from, bytes);
  wait_for_all(device);
}

void send_to_device(Device device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  queue_later("send", device, to, bytes, [=] { copy(device, to, from, bytes); });
  sending = sending || device != Device::kCpu;
}

void copy_to_host(Device device, void* to, const void* from, std::size_t bytes) {
  queue_copy(device, to, from, bytes);
  wait_for_all(device);
}

void queue_copy(Device device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (device != Device::kCpu) start_collected();
  copy(device, to, from, bytes);
}

void fill_bytes(Device device, void* to, int byte, std::size_t bytes) {
  if (bytes == 0) return;
  queue_later("fill", device, to, bytes, [=] {
    if (device == Device::kCuda) return cuda_fill(to, byte, bytes);
    run_or_note(
        device, [=] { std::memset(to, byte, bytes); }, to, byte, bytes);
  });
}

// The copies on fibers are done when they are called; they count as if they were not.
void wait_for_all(Device device) {
  if (device == Device::kCpu) return;
  start_collected();
  if (device == Device::kCuda) cuda_wait();
  if (device == Device::kSimt) simt::refuse_in_recording("wait for what was queued");
  sending = false;
  ++waits;
}

void wait_for_sends(Device device) {
  if (sending) wait_for_all(device);
}

DeviceCounts device_counts() { return {allocations, waits}; }

}  // namespace renar
