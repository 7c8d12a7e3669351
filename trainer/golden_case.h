// A golden case (docs/model.md 11) as spec, options, parameters and noise of a net; golden.h
// compares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/npz.h"
#include "nn/net.h"

namespace renar {

struct GoldenCase {
  Npz arrays;
  Spec spec;
  NetOptions options;
  double clip = 1;
  int train_steps = 0;
  bool freezes_processor = false;
  bool reconstructs = false;
  FixedMasks masks;         ///< of every step in training, where there are any
  std::vector<Real> noise;  ///< (B,N,N) of every step in training, where there are permutations
};

/// Begins the names of the case's parameters.
constexpr const char* kGoldenAlgorithm = "algorithm";

/// Throws renar::Error where a file is missing or malformed, or the case needs what this version
/// does not have.
GoldenCase read_golden_case(const std::string& path, const std::string& manifest);

/// The case's parameters. `moved` > 0: each moved by less than one rounding of a float, by chance;
/// the moved-th such choice.
void load_golden_parameters(const GoldenCase& golden, Net& net, std::uint32_t moved = 0);

/// The numbers of one of its arrays. Throws renar::Error unless there are `count`.
std::vector<double> numbers_of(const GoldenCase& golden, const std::string& name,
                               std::int64_t count);

NoiseKey noise_of(const GoldenCase& golden, const Batch& batch);

}  // namespace renar
