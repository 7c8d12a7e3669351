// What a program computes on: the CPU with some threads, or a device, and with which products.
#pragma once

#include <string>

#include "core/device.h"
#include "trainer/config.h"

namespace renar {

struct Machine {
  int threads = 1;  ///< of the CPU
  Device device = Device::kCpu;
  Precision precision = Precision::kFp32;
  std::string note = {};  ///< why `auto` is the CPU in a build that has CUDA; else empty
};

/// As --device, --threads and --precision say, where 0 threads are all cores. Throws renar::Error
/// where the device cannot be used, and UsageError where it does not have that precision.
Machine machine_of(const std::string& device, int threads, const std::string& precision);
Machine machine_of(const Config& config);

/// Bytes that an update may keep for backward (ShardRunner::limit_memory) where the user wants so
/// many MiB, or 0: half of what the device has.
std::size_t memory_budget(Device device, int mebibytes);

/// CPU, instruction set and threads, or the GPU, the version of CUDA and, if it is not fp32, the
/// precision.
std::string text_of(const Machine& machine);

}  // namespace renar
