// All small arrays there are: what goes wrong on ties, ends or single keys goes wrong on one of
// these.
#pragma once

#include <vector>

namespace renar {

/// All arrays of 1 .. `longest` keys out of -1, 0, 1, .., each as many values as it has keys: every
/// order, with every pattern of ties. 3413 arrays for 5.
inline std::vector<std::vector<double>> small_arrays(int longest) {
  std::vector<std::vector<double>> arrays;
  for (int n = 1; n <= longest; ++n) {
    std::vector<double> keys(static_cast<std::size_t>(n), -1);
    while (true) {
      arrays.push_back(keys);
      std::size_t i = 0;  // count on, as an odometer does
      while (i < keys.size() && keys[i] == n - 2) keys[i++] = -1;
      if (i == keys.size()) break;
      ++keys[i];
    }
  }
  return arrays;
}

}  // namespace renar
