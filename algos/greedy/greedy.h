// What the greedy algorithms share: each goes through its candidates once, in the order of a key.
#pragma once

#include <vector>

namespace renar {

/// The indices of the keys from the smallest to the largest, the lowest of equal ones first.
std::vector<int> ascending(const std::vector<double>& keys);

}  // namespace renar
