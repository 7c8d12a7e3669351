#include "algos/spec.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/check.h"
#include "core/text.h"

namespace renar {
namespace {

/// In every row along the last axis exactly one element is 1 or -1.
void check_one_hot(const Probe& probe, std::size_t row_size, std::span<const double> value) {
  for (std::size_t row = 0; row < value.size(); row += row_size) {
    const std::span<const double> cells = value.subspan(row, row_size);
    const auto marked = std::count_if(cells.begin(), cells.end(), [](double x) { return x != 0; });
    RENAR_CHECK(marked == 1, "[probe] {} '{}': row {} marks {} elements, expected one",
                name_of(probe.type), probe.name, row / row_size, marked);
  }
}

/// Whether the type allows this number at all.
bool allowed(Type type, int nodes, double x) {
  switch (type) {
    case Type::kScalar: return std::isfinite(x);
    case Type::kCategorical:
    case Type::kMask:
    case Type::kMaskOne: return x == 0 || x == 1 || x == -1;
    case Type::kPermutationPointer: return x == 0 || x == 1;
    case Type::kPointer:
    case Type::kShouldBePermutation: return x >= 0 && x < nodes && x == std::floor(x);
  }
  return false;
}

}  // namespace

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::kInput: return "input";
    case Stage::kOutput: return "output";
    case Stage::kHint: return "hint";
  }
  return "";
}

std::string_view name_of(Location location) {
  switch (location) {
    case Location::kNode: return "node";
    case Location::kEdge: return "edge";
    case Location::kGraph: return "graph";
  }
  return "";
}

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kScalar: return "scalar";
    case Type::kCategorical: return "categorical";
    case Type::kMask: return "mask";
    case Type::kMaskOne: return "mask_one";
    case Type::kPointer: return "pointer";
    case Type::kShouldBePermutation: return "should_be_permutation";
    case Type::kPermutationPointer: return "permutation_pointer";
  }
  return "";
}

std::vector<std::size_t> shape_of(const Probe& probe, int nodes) {
  const std::size_t n = static_cast<std::size_t>(nodes);
  std::vector<std::size_t> shape;
  switch (probe.location) {
    case Location::kNode: shape = {n}; break;
    case Location::kEdge: shape = {n, n}; break;
    case Location::kGraph: break;
  }
  if (probe.type == Type::kCategorical) shape.push_back(static_cast<std::size_t>(probe.classes));
  if (probe.type == Type::kPermutationPointer) shape.push_back(n);
  return shape;
}

std::size_t count_of(const Probe& probe, int nodes) {
  const std::vector<std::size_t> shape = shape_of(probe, nodes);
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

void check_value(const Probe& probe, int nodes, std::span<const double> value) {
  const std::size_t expected = count_of(probe, nodes);
  RENAR_CHECK(value.size() == expected, "[probe] {} '{}' has {} elements, expected {}",
              name_of(probe.type), probe.name, value.size(), expected);
  for (std::size_t i = 0; i < value.size(); ++i) {
    RENAR_CHECK(allowed(probe.type, nodes, value[i]),
                "[probe] {} '{}': element {} is {}, which the type does not allow ({} nodes)",
                name_of(probe.type), probe.name, i, value[i], nodes);
  }
  if (probe.type == Type::kCategorical || probe.type == Type::kMaskOne ||
      probe.type == Type::kPermutationPointer) {
    check_one_hot(probe, shape_of(probe, nodes).back(), value);
  }
}

Spec::Spec(std::vector<Probe> probes) : probes_(std::move(probes)) {
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    const Probe& probe = probes_[i];
    RENAR_CHECK(index_of(probe.name) == i, "[spec] the probe '{}' stands twice", probe.name);
    RENAR_CHECK((probe.type == Type::kCategorical) == (probe.classes > 0),
                "[spec] {} '{}' with {} classes", name_of(probe.type), probe.name, probe.classes);
    RENAR_CHECK(probe.type != Type::kMaskOne || probe.location != Location::kGraph,
                "[spec] mask_one '{}' needs nodes to choose from", probe.name);
    const bool permutes =
        probe.type == Type::kShouldBePermutation || probe.type == Type::kPermutationPointer;
    RENAR_CHECK(!permutes || probe.location == Location::kNode,
                "[spec] the {} '{}' is of nodes only", name_of(probe.type), probe.name);
  }
}

bool Spec::contains(std::string_view name) const {
  return std::any_of(begin(), end(), [&](const Probe& probe) { return probe.name == name; });
}

std::size_t Spec::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    if (probes_[i].name == name) return i;
  }
  std::vector<std::string> names;
  for (const Probe& probe : probes_) names.push_back(probe.name);
  throw Error(message_of("[spec] there is no probe '{}' among {}", name, join(names)));
}

}  // namespace renar
