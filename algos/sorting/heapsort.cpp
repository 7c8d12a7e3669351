// Heapsort (CLRS, 3rd and 4th edition 6.4; Williams, 1964).
//
// Output: pred(N), the node whose key comes before; the first points to itself. Hints: pred_h, the
// same for the array as it is now; parent, each heap node's parent (the root and nodes outside of
// the heap point to themselves); phase: 0 the heap is built, 1 the largest has been moved behind
// the heap, 2 the heap is repaired; heap_size, the heap's last node; and of MAX-HEAPIFY i, the node
// at the place it was called for, j and largest, the nodes at the two places of its swap. A frame
// is recorded at the start, at each MAX-HEAPIFY after its swap, and at each move behind the heap.
//
// Where the benchmark leaves the textbook: building starts at the last leaf and not at the last
// inner node; in phase 2 i is the node at the place just behind the heap; in phase 1 largest marks
// node 0, whatever it is. Equal keys end in another order than in the other sorts.

#include <vector>

#include "algos/keys.h"
#include "algos/registry.h"

namespace renar {
namespace {

enum HeapsortPhase { kBuild, kExtract, kRepair };
constexpr int kHeapsortPhases = 3;

const Spec& heapsort_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kScalar},
      {"pred", Stage::kOutput, Location::kNode, Type::kShouldBePermutation},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"parent", Stage::kHint, Location::kNode, Type::kPointer},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"j", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"largest", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"heap_size", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"phase", Stage::kHint, Location::kGraph, Type::kCategorical, kHeapsortPhases},
  };
  return spec;
}

/// The probe `parent`: within the heap, the node at place i points to the one at (i - 1) / 2.
std::vector<int> parents(const std::vector<int>& node, int heap_size) {
  std::vector<int> parent = self_pointers(static_cast<int>(node.size()));
  for (int i = 1; i < heap_size; ++i) parent[node[i]] = node[(i - 1) / 2];
  return parent;
}

}  // namespace

/// Sorts the keys. Throws renar::Error if there is none or one is not finite.
Trace heapsort(const std::vector<double>& keys) {
  check_keys("heapsort", keys);
  Keys array(keys);
  const std::vector<double>& a = array.a;
  const std::vector<int>& node = array.node;
  const int n = array.size();
  int heap_size = n;
  Trace trace(heapsort_spec(), n);
  trace.input({{"pos", positions(n)}, {"key", keys}});
  const auto record = [&](int i, int j, int largest, HeapsortPhase phase) {  // nodes, not places
    trace.hint({{"pred_h", predecessors(node)},
                {"parent", parents(node, heap_size)},
                {"i", one_hot(i, n)},
                {"j", one_hot(j, n)},
                {"largest", one_hot(largest, n)},
                {"heap_size", one_hot(node[heap_size - 1], n)},
                {"phase", one_hot(phase, kHeapsortPhases)}});
  };

  // MAX-HEAPIFY at place i, its recursion as a loop; `called_for` is a place.
  const auto max_heapify = [&](int i, int called_for, HeapsortPhase phase) {
    while (true) {
      const int left = 2 * i + 1, right = 2 * i + 2;
      int largest = left < heap_size && a[left] > a[i] ? left : i;
      if (right < heap_size && a[right] > a[largest]) largest = right;
      array.swap(i, largest);
      record(node[called_for], node[i], node[largest], phase);
      if (largest == i) return;
      i = largest;
    }
  };

  record(n - 1, n - 1, n - 1, kBuild);
  for (int i = n - 1; i >= 0; --i) max_heapify(i, i, kBuild);
  for (int i = n - 1; i >= 1; --i) {
    array.swap(0, i);
    --heap_size;
    record(node[0], node[i], 0, kExtract);
    max_heapify(0, i, kRepair);
  }

  trace.output({{"pred", predecessors(node)}});
  return trace;
}

namespace {

Trace sample_heapsort(NumpyRandom& random, int length, const SamplerParams&) {
  return heapsort(random_sequence(random, length));
}

Trace run_heapsort(const UserInput& input) { return heapsort(input.list("key")); }

}  // namespace

Algorithm heapsort_algorithm() {
  return {.name = "heapsort",
          .category = Category::kSorting,
          .spec = heapsort_spec,
          .sample = sample_heapsort,
          .inputs = {"key"},
          .run = run_heapsort};
}

}  // namespace renar
