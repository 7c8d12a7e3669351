#include "trainer/machine.h"

#include <fmt/core.h>

#include <type_traits>

#include "core/check.h"
#include "core/parallel.h"
#include "core/tensor.h"
#include "core/version.h"

namespace renar {
namespace {

// Tensor cores are a GPU's, and take floats.
void check_precision(const Machine& machine, const std::string& device,
                     const std::string& why_cpu) {
  if (machine.precision == Precision::kFp32) return;
  const std::string_view name = name_of(machine.precision);
  RENAR_USAGE((std::is_same_v<Real, float>),
              "--precision {} rounds floats and this build computes in double: leave it out", name);
  RENAR_USAGE(machine.device != Device::kCpu,
              "--precision {} needs --device cuda, and --device {} is the CPU{}{}: use --precision "
              "fp32 there",
              name, device, why_cpu.empty() ? "" : " here, ", why_cpu);
}

}  // namespace

Machine machine_of(const std::string& device, int threads, const std::string& precision) {
  Machine machine{.threads = threads > 0 ? threads : available_threads()};
  std::string why_cpu;
  machine.device = find_device(device, &why_cpu);
  if (built_with_cuda() && !why_cpu.empty()) {
    machine.note = fmt::format("--device auto is the CPU here: {}", why_cpu);
  }
  machine.precision = find_precision(precision);
  check_precision(machine, device, why_cpu);
  return machine;
}

Machine machine_of(const Config& config) {
  return machine_of(config.device, config.threads, config.precision);
}

std::size_t memory_budget(Device device, int mebibytes) {
  return mebibytes > 0 ? static_cast<std::size_t>(mebibytes) << 20 : memory_of(device) / 2;
}

std::string text_of(const Machine& machine) {
  if (machine.precision != Precision::kFp32) {
    return fmt::format("{}, {}", model_of(machine.device), name_of(machine.precision));
  }
  if (machine.device != Device::kCpu) return model_of(machine.device);
  return fmt::format("{}, {}, {} thread{}", cpu_model(), instruction_set(), machine.threads,
                     machine.threads == 1 ? "" : "s");
}

}  // namespace renar
