#include "core/device.h"

#include <cstring>
#include <new>

#include "core/check.h"
#include "core/cuda.h"
#include "core/launch.h"
#include "core/simt_memory.h"

namespace renar {
namespace {

constexpr std::align_val_t kAlignment{64};  // a cache line, and the widest vector

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

void* device_allocate(Device device, std::size_t bytes) {
  switch (device) {
    case Device::kCpu: return ::operator new(bytes, kAlignment);
    case Device::kSimt: return simt::allocate(bytes);
    case Device::kCuda: return cuda_allocate(bytes);
  }
  return nullptr;
}

void device_release(Device device, void* memory) {
  if (device != Device::kCpu) start_collected();
  switch (device) {
    case Device::kCpu: ::operator delete(memory, kAlignment); return;
    case Device::kSimt: simt::release(memory); return;
    case Device::kCuda: cuda_release(memory); return;
  }
}

void copy_to_device(Device device, void* to, const void* from, std::size_t bytes) {
  start_collected();
  if (device == Device::kCuda) return cuda_copy(to, from, bytes, true);
  copy_on_device(device, to, from, bytes);
}

void send_to_device(Device device, void* to, const void* from, std::size_t bytes) {
  copy_on_device(device, to, from, bytes);
}

void copy_to_host(Device device, void* to, const void* from, std::size_t bytes) {
  start_collected();
  if (device == Device::kCuda) return cuda_copy(to, from, bytes, true);
  copy_on_device(device, to, from, bytes);
}

void copy_on_device(Device device, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (device != Device::kCpu) start_collected();
  if (device == Device::kCuda) return cuda_copy(to, from, bytes, false);
  const simt::Unlocked unlocked(device == Device::kSimt);
  std::memmove(to, from, bytes);
}

void fill_bytes(Device device, void* to, int byte, std::size_t bytes) {
  if (bytes == 0) return;
  if (device != Device::kCpu) start_collected();
  if (device == Device::kCuda) return cuda_fill(to, byte, bytes);
  const simt::Unlocked unlocked(device == Device::kSimt);
  std::memset(to, byte, bytes);
}

}  // namespace renar
