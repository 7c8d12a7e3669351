// An array on its way to be sorted or searched. Each element keeps the index it came from, which is
// its node: probes speak of nodes, so that a key and its place in the input never part.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "algos/trace.h"

namespace renar {

struct Keys {
  std::vector<double> a;  // the array of the textbook, counted from 0
  std::vector<int> node;  // where each element stood in the input

  explicit Keys(const std::vector<double>& input)
      : a(input), node(self_pointers(static_cast<int>(input.size()))) {}

  int size() const { return static_cast<int>(a.size()); }
  void swap(int i, int j) {
    std::swap(a[i], a[j]);
    std::swap(node[i], node[j]);
  }
};

/// Throws renar::Error unless there is a key and all are finite.
void check_keys(std::string_view algorithm, const std::vector<double>& keys);

}  // namespace renar
