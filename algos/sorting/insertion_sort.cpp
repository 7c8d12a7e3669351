// Insertion sort (CLRS, 3rd and 4th edition 2.1).
//
// Output: pred(N), the node whose key comes before; the first points to itself. Hints: pred_h, the
// same for the array as it is now; j, the node whose key has just been inserted; i, the node that
// stands behind it (j itself if it has not moved). A frame is recorded at the start and after each
// insertion: N frames.
//
// Where the benchmark leaves the textbook: nothing is shown of the inner loop's single moves.

#include <vector>

#include "algos/keys.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& insertion_sort_spec() {
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
Trace insertion_sort(const std::vector<double>& keys) {
  check_keys("insertion_sort", keys);
  Keys array(keys);
  std::vector<double>& a = array.a;
  const int n = array.size();
  Trace trace(insertion_sort_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", keys}});
  const auto record = [&](int i, int j) {
    trace.hint({{"pred_h", predecessors(array.node)}, {"i", one_hot(i, n)}, {"j", one_hot(j, n)}});
  };

  record(0, 0);
  for (int j = 1; j < n; ++j) {
    const double key = a[j];
    int i = j - 1;  // insert key into the sorted a[0 .. j - 1]
    while (i >= 0 && a[i] > key) {
      a[i + 1] = a[i];
      array.node[i + 1] = array.node[i];
      --i;
    }
    a[i + 1] = key;
    const int displaced = array.node[i + 1];  // its own copy moved one up, or j itself
    array.node[i + 1] = j;
    record(displaced, j);
  }

  trace.output({{"pred", predecessors(array.node)}});
  return trace;
}

namespace {

Trace sample_insertion_sort(NumpyRandom& random, int length, const SamplerParams&) {
  return insertion_sort(random_sequence(random, length));
}

Trace run_insertion_sort(const UserInput& input) { return insertion_sort(input.list("key")); }

}  // namespace

Algorithm insertion_sort_algorithm() {
  return {.name = "insertion_sort",
          .category = Category::kSorting,
          .spec = insertion_sort_spec,
          .sample = sample_insertion_sort,
          .inputs = {"key"},
          .run = run_insertion_sort};
}

}  // namespace renar
