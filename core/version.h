// Who is speaking: the version and commit of this program, and the machine it runs on. A score or a
// time without them cannot be compared with another, so every summary and --version print them.
#pragma once

#include <string>

namespace renar {

/// The commit the program was built from: 12 hex digits, "-dirty" behind them if files had changed.
std::string commit();

/// The widest SIMD instruction set of this CPU: "avx512", "avx2", "sse2", "neon" or "scalar".
std::string instruction_set();

/// The CPU's name as /proc/cpuinfo gives it, "unknown CPU" where there is none.
std::string cpu_model();

/// What --version prints, a line each: version, commit, compiler, instruction set, CUDA.
std::string version_text();

}  // namespace renar
