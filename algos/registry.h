// The algorithms that renar knows, one line each in registry.cpp. An algorithm's file holds all
// that belongs to it and ends in a function <name>_algorithm() that the registry calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algos/samplers.h"
#include "algos/spec.h"
#include "algos/trace.h"
#include "algos/user_input.h"
#include "core/numpy_random.h"

namespace renar {

enum class Category {
  kSorting,
  kSearching,
  kDivideAndConquer,
  kGreedy,
  kDynamicProgramming,
  kGraphs,
  kStrings,
  kGeometry,
};

/// "graphs" and so on: the folder under algos/.
std::string_view name_of(Category category);

struct Algorithm {
  std::string name;
  Category category;
  const Spec& (*spec)();

  /// Runs the algorithm on a random input of about `length` nodes.
  Trace (*sample)(NumpyRandom& random, int length, const SamplerParams& params);

  /// Runs it on the user's own input, which has just these names: "A" and "s", for example. Throws
  /// renar::Error where the algorithm has no answer for it.
  std::vector<std::string> inputs;
  Trace (*run)(const UserInput& input);

  SamplerParams dataset = {};   // of the CLRS-30 splits, the test set among them
  SamplerParams training = {};  // of training and validation, as in the field's example run
  int multiplier = 1;           // validation and test sets have 32 samples times this
  bool in_clrs30 = true;        // one of the 30 that --algo all means
  bool pred_is_input = false;   // pred_h never changes: the pipeline makes the input pred of it
};

/// All of them, by name.
const std::vector<Algorithm>& algorithms();

/// The algorithm of that name. Throws renar::UsageError with the nearest match and all valid names.
const Algorithm& find_algorithm(std::string_view name);

}  // namespace renar
