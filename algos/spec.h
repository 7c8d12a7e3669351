// What an algorithm shows of itself: a list of probes. A probe is (stage, location, type): an
// input, an output, or a hint that is recorded at every step; of the nodes, the edges or the whole
// graph.
//
//   location   node (N)   edge (N,N)   graph ()         categorical adds a last axis of C classes
//   type       scalar, categorical (one-hot), mask (0/1), mask_one (one-hot over the last axis),
//              pointer (the index of a node; of the graph, of each node, of each edge),
//              should_be_permutation (pointers that follow one another along a whole order; the
//              pipeline makes a permutation_pointer of them), permutation_pointer (N,N) (each
//              node's one-hot row of the node that it points to, no two to the same);
//              -1 in a mask or one-hot means masked out
//
// Source: Velickovic et al., The CLRS Algorithmic Reasoning Benchmark, 2022, section 2.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace renar {

enum class Stage { kInput, kOutput, kHint };
enum class Location { kNode, kEdge, kGraph };
enum class Type {
  kScalar,
  kCategorical,
  kMask,
  kMaskOne,
  kPointer,
  kShouldBePermutation,
  kPermutationPointer,
};

/// The benchmark's words: "input", "node", "mask_one" and so on.
std::string_view name_of(Stage stage);
std::string_view name_of(Location location);
std::string_view name_of(Type type);

struct Probe {
  std::string name;
  Stage stage;
  Location location;
  Type type;
  int classes = 0;  // C, of a categorical probe only

  bool operator==(const Probe&) const = default;
};

/// The shape of one value of the probe for a graph of N nodes: a sample's input or output, or one
/// frame of a hint.
std::vector<std::size_t> shape_of(const Probe& probe, int nodes);

/// The number of elements of that shape.
std::size_t count_of(const Probe& probe, int nodes);

/// Throws renar::Error, naming the probe and the element, unless the values are what the type says:
/// as many as the shape holds and finite; 0, 1 or -1 in masks, and one of them not 0 in a one-hot;
/// whole numbers in [0, N) in pointers; one 1 in every row of a permutation.
void check_value(const Probe& probe, int nodes, std::span<const double> value);

/// The probes of an algorithm in the benchmark's order. Names are unique over all stages.
class Spec {
 public:
  Spec() = default;
  Spec(std::initializer_list<Probe> probes) : Spec(std::vector<Probe>(probes)) {}

  /// Throws renar::Error for a name that stands twice, classes that do not fit the type, a mask_one
  /// of the graph, and permutations that are not of nodes.
  explicit Spec(std::vector<Probe> probes);

  std::size_t size() const { return probes_.size(); }
  const Probe& operator[](std::size_t index) const { return probes_[index]; }
  std::vector<Probe>::const_iterator begin() const { return probes_.begin(); }
  std::vector<Probe>::const_iterator end() const { return probes_.end(); }
  bool operator==(const Spec&) const = default;

  bool contains(std::string_view name) const;

  /// The place of a probe. Throws renar::Error listing the names if there is none.
  std::size_t index_of(std::string_view name) const;

 private:
  std::vector<Probe> probes_;
};

}  // namespace renar
