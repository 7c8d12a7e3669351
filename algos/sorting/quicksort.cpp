// Quicksort (CLRS, 3rd and 4th edition 7.1; Hoare, 1962).
//
// Output: pred(N), the node whose key comes before; the first points to itself. Hints: pred_h, the
// same for the array as it is now; p and r, the nodes at the ends of the part that is partitioned;
// i, the node at the first place that is not known to hold a small key; j, the node at the place
// that was just compared with the pivot a[r]. A frame is recorded after each comparison and after
// each PARTITION, when i is the pivot at its place and j the node that it changed places with.
//
// One key alone has nothing to be partitioned: its trace is one frame in which all marks are on it
// (in the reference it has no frame and is no trace).

#include <vector>

#include "algos/keys.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& quicksort_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kScalar},
      {"pred", Stage::kOutput, Location::kNode, Type::kShouldBePermutation},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"p", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"r", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"j", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

/// The state of a sort, and its recursion.
class Quicksort {
 public:
  Quicksort(const std::vector<double>& keys, Trace& trace) : array_(keys), trace_(trace) {}

  const Keys& array() const { return array_; }

  void sort(int p, int r) {
    if (p >= r) return;
    const int q = partition(p, r);
    sort(p, q - 1);
    sort(q + 1, r);
  }

  void record(int p, int r, int i, int j) {
    const int n = array_.size();
    const std::vector<int>& node = array_.node;
    trace_.hint({{"pred_h", predecessors(node)},
                 {"p", one_hot(node[p], n)},
                 {"r", one_hot(node[r], n)},
                 {"i", one_hot(node[i], n)},
                 {"j", one_hot(node[j], n)}});
  }

 private:
  int partition(int p, int r) {
    const double pivot = array_.a[r];
    int i = p;  // a[p .. i - 1] holds keys up to the pivot
    for (int j = p; j < r; ++j) {
      if (array_.a[j] <= pivot) array_.swap(i++, j);
      record(p, r, i, j);
    }
    array_.swap(i, r);
    record(p, r, i, r);
    return i;
  }

  Keys array_;
  Trace& trace_;
};

}  // namespace

/// Sorts the keys. Throws renar::Error if there is none or one is not finite.
Trace quicksort(const std::vector<double>& keys) {
  check_keys("quicksort", keys);
  const int n = static_cast<int>(keys.size());
  Trace trace(quicksort_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", keys}});
  Quicksort run(keys, trace);
  if (n == 1) run.record(0, 0, 0, 0);
  run.sort(0, n - 1);
  trace.output({{"pred", predecessors(run.array().node)}});
  return trace;
}

namespace {

Trace sample_quicksort(NumpyRandom& random, int length, const SamplerParams&) {
  return quicksort(random_sequence(random, length));
}

Trace run_quicksort(const UserInput& input) { return quicksort(input.list("key")); }

}  // namespace

Algorithm quicksort_algorithm() {
  return {.name = "quicksort",
          .category = Category::kSorting,
          .spec = quicksort_spec,
          .sample = sample_quicksort,
          .inputs = {"key"},
          .run = run_quicksort};
}

}  // namespace renar
