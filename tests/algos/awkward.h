// Random numbers of the kinds that algorithms stumble over.
#pragma once

#include <vector>

#include "core/numpy_random.h"

namespace renar {

/// `count` numbers between low and high: all different, or small whole ones with many ties, or all
/// of them the same.
inline std::vector<double> awkward_numbers(NumpyRandom& random, int count, int low, int high) {
  const int kind = static_cast<int>(random.randint(0, 3));
  std::vector<double> numbers = random.uniform(low, high, static_cast<std::size_t>(count));
  const double constant = static_cast<double>(random.randint(low, high + 1));
  for (double& number : numbers) {
    if (kind == 1) number = static_cast<double>(random.randint(low, high + 1));
    if (kind == 2) number = constant;
  }
  return numbers;
}

}  // namespace renar
