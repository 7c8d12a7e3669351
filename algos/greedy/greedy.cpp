#include "algos/greedy/greedy.h"

#include <algorithm>

#include "algos/trace.h"

namespace renar {

std::vector<int> ascending(const std::vector<double>& keys) {
  std::vector<int> order = self_pointers(static_cast<int>(keys.size()));
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return keys[i] < keys[j]; });
  return order;
}

}  // namespace renar
