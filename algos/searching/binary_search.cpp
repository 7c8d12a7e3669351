// Binary search (CLRS, 3rd edition exercise 2.3-5, 4th edition exercise 2.3-6).
//
// Output: return, the first node whose key is not below the target. Hints: low and high, the ends
// of the part that may hold it; mid, the node between them; pred_h, the array's order, which never
// changes. A frame is recorded at the start and after each comparison.
//
// Where the benchmark leaves the textbook: the target need not be among the keys, and one above all
// of them is answered with the last node.

#include <algorithm>
#include <cmath>
#include <vector>

#include "algos/keys.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& binary_search_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kScalar},
      {"target", Stage::kInput, Location::kGraph, Type::kScalar},
      {"return", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"low", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"high", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"mid", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Looks for the target among the keys. Throws renar::Error if there is no key, a number is not
/// finite, or the keys are not sorted.
Trace binary_search(double target, const std::vector<double>& a) {
  check_keys("binary_search", a);
  RENAR_CHECK(std::isfinite(target), "[binary_search] the target is {}, expected a finite number",
              target);
  const auto unsorted = std::is_sorted_until(a.begin(), a.end());
  RENAR_CHECK(unsorted == a.end(), "[binary_search] key {} is below the one before it: sort them",
              unsorted - a.begin());
  const int n = static_cast<int>(a.size());
  Trace trace(binary_search_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", a}, {"target", target}});

  const std::vector<int> pred = predecessors(self_pointers(n));
  int low = 0, high = n - 1;
  const auto record = [&] {
    trace.hint({{"pred_h", pred},
                {"low", one_hot(low, n)},
                {"high", one_hot(high, n)},
                {"mid", one_hot((low + high) / 2, n)}});
  };
  record();
  while (low < high) {
    const int mid = (low + high) / 2;
    if (target <= a[mid]) {
      high = mid;
    } else {
      low = mid + 1;
    }
    record();
  }

  trace.output({{"return", one_hot(high, n)}});
  return trace;
}

namespace {

Trace sample_binary_search(NumpyRandom& random, int length, const SamplerParams&) {
  std::vector<double> keys = random_sequence(random, length);
  std::sort(keys.begin(), keys.end());
  return binary_search(random.uniform(0, 1), keys);
}

Trace run_binary_search(const UserInput& input) {
  return binary_search(input.number("target"), input.list("key"));
}

}  // namespace

Algorithm binary_search_algorithm() {
  return {.name = "binary_search",
          .category = Category::kSearching,
          .spec = binary_search_spec,
          .sample = sample_binary_search,
          .inputs = {"key", "target"},
          .run = run_binary_search,
          .multiplier = 64,
          .pred_is_input = true};
}

}  // namespace renar
