#include "trainer/machine.h"

#include <fmt/core.h>

#include "core/parallel.h"
#include "core/version.h"

namespace renar {

Machine machine_of(const std::string& device, int threads) {
  Machine machine{.threads = threads > 0 ? threads : available_threads()};
  std::string why_cpu;
  machine.device = find_device(device, &why_cpu);
  if (built_with_cuda() && !why_cpu.empty()) {
    machine.note = fmt::format("--device auto is the CPU here: {}", why_cpu);
  }
  return machine;
}

Machine machine_of(const Config& config) { return machine_of(config.device, config.threads); }

std::size_t memory_budget(Device device, int mebibytes) {
  return mebibytes > 0 ? static_cast<std::size_t>(mebibytes) << 20 : memory_of(device) / 2;
}

std::string text_of(const Machine& machine) {
  if (machine.device != Device::kCpu) return model_of(machine.device);
  return fmt::format("{}, {}, {} thread{}", cpu_model(), instruction_set(), machine.threads,
                     machine.threads == 1 ? "" : "s");
}

}  // namespace renar
