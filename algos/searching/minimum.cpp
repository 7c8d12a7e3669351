// Minimum (CLRS, 3rd and 4th edition 9.1).
//
// Output: min, the node of the smallest key, the first of equal ones. Hints: min_h, the smallest of
// those seen so far; i, the node that was just looked at; pred_h, the array's order, which never
// changes. A frame is recorded at the start and after each comparison: N frames.

#include <vector>

#include "algos/keys.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& minimum_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kScalar},
      {"min", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"min_h", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Finds the smallest key. Throws renar::Error if there is none or one is not finite.
Trace minimum(const std::vector<double>& a) {
  check_keys("minimum", a);
  const int n = static_cast<int>(a.size());
  Trace trace(minimum_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", a}});

  const std::vector<int> pred = predecessors(self_pointers(n));
  int min = 0;
  for (int i = 0; i < n; ++i) {
    if (a[min] > a[i]) min = i;
    trace.hint({{"pred_h", pred}, {"min_h", one_hot(min, n)}, {"i", one_hot(i, n)}});
  }

  trace.output({{"min", one_hot(min, n)}});
  return trace;
}

namespace {

Trace sample_minimum(NumpyRandom& random, int length, const SamplerParams&) {
  return minimum(random_sequence(random, length));
}

Trace run_minimum(const UserInput& input) { return minimum(input.list("key")); }

}  // namespace

Algorithm minimum_algorithm() {
  return {.name = "minimum",
          .category = Category::kSearching,
          .spec = minimum_spec,
          .sample = sample_minimum,
          .inputs = {"key"},
          .run = run_minimum,
          .multiplier = 64,
          .pred_is_input = true};
}

}  // namespace renar
