// One number that pins the arithmetic: the loss bits of 100 fixed training steps on one thread or
// many.
//
// The same on every machine with AVX2 or AVX-512 (and the same libm); a refactoring must not change
// it.
#pragma once

#include <cstdint>
#include <string>

namespace renar {

constexpr int kFingerprintSteps = 100;

/// FNV-1a over the bits of the losses of `steps` steps of two small nets in turn, for bfs and dfs.
/// They are Triplet-GMPNNs: what other processors and methods add has no part in it.
std::uint64_t fingerprint(int steps, int threads);

/// "fingerprint 0123456789abcdef (100 steps, float, avx2)"
std::string fingerprint_text();

}  // namespace renar
