// Bubble sort (CLRS, 3rd edition problem 2-2, 4th edition problem 2-2).
//
// Output: pred(N), the node whose key comes before; the first points to itself. Hints: pred_h, the
// same for the array as it is now; i, the node at the place that this pass fills; j, the node at
// the place that was just compared with its left neighbour. A frame is recorded at the start and
// after each comparison, swapped or not: 1 + N (N - 1) / 2 frames.

#include <vector>

#include "algos/keys.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& bubble_sort_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kScalar},
      {"pred", Stage::kOutput, Location::kNode, Type::kShouldBePermutation},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"j", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Sorts the keys. Throws renar::Error if there is none or one is not finite.
Trace bubble_sort(const std::vector<double>& keys) {
  check_keys("bubble_sort", keys);
  Keys array(keys);
  const int n = array.size();
  Trace trace(bubble_sort_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", keys}});
  const auto record = [&](int i, int j) {
    trace.hint({{"pred_h", predecessors(array.node)},
                {"i", one_hot(array.node[i], n)},
                {"j", one_hot(array.node[j], n)}});
  };

  record(0, 0);
  for (int i = 0; i < n - 1; ++i) {
    for (int j = n - 1; j > i; --j) {
      if (array.a[j] < array.a[j - 1]) array.swap(j, j - 1);
      record(i, j);
    }
  }

  trace.output({{"pred", predecessors(array.node)}});
  return trace;
}

namespace {

Trace sample_bubble_sort(NumpyRandom& random, int length, const SamplerParams&) {
  return bubble_sort(random_sequence(random, length));
}

Trace run_bubble_sort(const UserInput& input) { return bubble_sort(input.list("key")); }

}  // namespace

Algorithm bubble_sort_algorithm() {
  return {.name = "bubble_sort",
          .category = Category::kSorting,
          .spec = bubble_sort_spec,
          .sample = sample_bubble_sort,
          .inputs = {"key"},
          .run = run_bubble_sort};
}

}  // namespace renar
