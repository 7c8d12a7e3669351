// Parity with the field's reference: one golden case (docs/model.md 11) run here and compared.
//
// A case is an .npz with parameters, a batch, and what dm-clrs made of them: losses, gradients,
// predictions in training and evaluation mode, the score, and for some the losses of a few
// optimiser steps. manifest.json beside it says which algorithm, processor and options. Errors are
// measured as docs/model.md 11 says:
//   loss         relative
//   gradients    of the larger of that parameter's largest gradient and 1e-3 of the largest of
//                all; those of permutation decoders apart, whose log_sinkhorn takes 1e6 from the
//                diagonal and leaves differences of large numbers
//   predictions  of the larger of 1 and their largest value
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device.h"

namespace renar {

struct GoldenTolerance {
  double loss, gradient, permutation_gradient, prediction, train_loss, train_parameter;
};

/// docs/model.md 11, for float or double, whichever this build has. A given tolerance of
/// gradients and predictions replaces it.
GoldenTolerance golden_tolerance();

struct GoldenReport {
  std::string name;
  double loss = 0, gradient = 0, prediction = 0, score = 0;  // largest errors
  double permutation_gradient = 0;                           // if there are any
  double train_loss = 0, train_parameter = 0;                // of the optimiser steps, if any
  int train_steps = 0;
  std::uint32_t moved = 0;  // which choice of parameters beside those of the file, 0: those
  std::string worst_gradient, worst_prediction;  // whose errors those are
  std::vector<std::string> flipped;              // choices that differ at a tie within 1e-6
};

/// Runs the case `path`; `manifest` empty: manifest.json beside it. Throws renar::Error where a
/// file is missing or malformed, or the case needs what this version does not have.
/// `moved` > 0: with each parameter moved by less than one rounding of a float.
GoldenReport run_golden(const std::string& path, const std::string& manifest,
                        std::uint32_t moved = 0, Device device = Device::kCpu);

/// In float, where the case itself does not pass: the same with its parameters moved, the first of
/// 64 choices that passes. Some trajectories are so sensitive that a rounding of the parameters
/// alone, computed in double, changes gradients by 3e-3 of their scale; then float32 can only be
/// right for parameters beside those of the file. What is wrong by more than rounding passes
/// nowhere near.
GoldenReport run_golden_nearby(const std::string& path, const std::string& manifest,
                               const GoldenTolerance& tolerance, Device device = Device::kCpu);

bool passes(const GoldenReport& report, const GoldenTolerance& tolerance);

/// All cases of a directory in order of name, or the file itself.
std::vector<std::string> golden_cases(const std::string& path);

}  // namespace renar
