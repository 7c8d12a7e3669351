#include "core/version.h"

#include <fmt/format.h>

#include <fstream>

#include "core/cuda.h"
#include "core/device.h"
#include "generated/version.h"

namespace renar {

std::string commit() { return RENAR_COMMIT; }

std::string instruction_set() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
  return "sse2";
#elif defined(__aarch64__)
  return "neon";
#else
  return "scalar";
#endif
}

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

std::string version_text() {
#ifdef RENAR_REAL64
  constexpr const char* kArithmetic = "float64";
#else
  constexpr const char* kArithmetic = "float32";
#endif
  return fmt::format(
      "renar {}\n"
      "commit           {}\n"
      "compiler         {} ({}, {})\n"
      "instruction set  {} ({})\n"
      "CUDA             {}\n",
      RENAR_VERSION, RENAR_COMMIT, RENAR_COMPILER, RENAR_BUILD_TYPE, kArithmetic, instruction_set(),
      cpu_model(), built_with_cuda() ? cuda_version() : "none");
}

}  // namespace renar
