// Quickselect: the median by partitioning (CLRS, 3rd and 4th edition 9.2; Hoare, 1961).
//
// Output: median, the node whose key has rank N / 2 (counted from 0). Hints, with places of the
// array as it is now: pred_h, its order; p and r, the nodes at the ends of the part that is
// searched; i, the node at the first place that is not known to hold a small key; j, the node at
// the place that was just compared with the pivot; pivot; i_rank, how far i has come, and target,
// the rank that is looked for within the part, both over N. A frame is recorded after each
// comparison and after each PARTITION.
//
// Where the benchmark leaves the textbook: the pivot is the last key, not a random one; i_rank is
// counted from the array's start during a PARTITION and from p at its end. The hint `pivot` came in
// 2024; older data files lack it.

#include <vector>

#include "algos/keys.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& quickselect_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kScalar},
      {"median", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"p", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"r", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"j", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"i_rank", Stage::kHint, Location::kGraph, Type::kScalar},
      {"target", Stage::kHint, Location::kGraph, Type::kScalar},
      {"pivot", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Finds the median. Throws renar::Error if there is no key or one is not finite.
Trace quickselect(const std::vector<double>& keys) {
  check_keys("quickselect", keys);
  Keys array(keys);
  const std::vector<int>& node = array.node;
  const int n = array.size();
  Trace trace(quickselect_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", keys}});
  int p = 0, r = n - 1;
  int target = n / 2;  // the rank that is looked for within a[p .. r]
  const auto record = [&](int i, int j, int i_rank, int pivot) {
    trace.hint({{"pred_h", predecessors(node)},
                {"p", one_hot(node[p], n)},
                {"r", one_hot(node[r], n)},
                {"i", one_hot(node[i], n)},
                {"j", one_hot(node[j], n)},
                {"i_rank", i_rank * 1.0 / n},
                {"target", target * 1.0 / n},
                {"pivot", one_hot(node[pivot], n)}});
  };

  while (true) {
    int i = p;  // PARTITION: a[p .. i - 1] holds keys up to the pivot a[r]
    for (int j = p; j < r; ++j) {
      if (array.a[j] <= array.a[r]) array.swap(i++, j);
      record(i, j, i, r);
    }
    array.swap(i, r);
    const int rank = i - p;  // of the pivot within the part
    record(i, r, rank, i);

    if (target == rank) {
      trace.output({{"median", one_hot(node[i], n)}});
      return trace;
    }
    if (target < rank) {
      r = i - 1;
    } else {
      p = i + 1;
      target -= rank + 1;
    }
  }
}

namespace {

Trace sample_quickselect(NumpyRandom& random, int length, const SamplerParams&) {
  return quickselect(random_sequence(random, length));
}

Trace run_quickselect(const UserInput& input) { return quickselect(input.list("key")); }

}  // namespace

Algorithm quickselect_algorithm() {
  return {.name = "quickselect",
          .category = Category::kSearching,
          .spec = quickselect_spec,
          .sample = sample_quickselect,
          .inputs = {"key"},
          .run = run_quickselect,
          .multiplier = 64};
}

}  // namespace renar
