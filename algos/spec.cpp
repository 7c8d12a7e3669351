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

/// Whether every row is one 1 or -1 among zeros, in a single pass: most of a trace is one-hot.
bool all_one_hot(std::size_t row_size, std::span<const double> value) {
  const auto marked = [](double x) { return x != 0; };
  for (std::size_t row = 0; row < value.size(); row += row_size) {
    const std::span<const double> cells = value.subspan(row, row_size);
    const auto first = std::find_if(cells.begin(), cells.end(), marked);
    if (first == cells.end() || std::abs(*first) != 1) return false;
    if (std::find_if(first + 1, cells.end(), marked) != cells.end()) return false;
  }
  return true;
}

/// The first element that the type does not allow, value.size() if there is none.
std::size_t first_wrong(Type type, int nodes, std::span<const double> value) {
  const auto find_unless = [&](auto allowed) {
    return static_cast<std::size_t>(std::find_if_not(value.begin(), value.end(), allowed) -
                                    value.begin());
  };
  switch (type) {
    case Type::kScalar: return find_unless([](double x) { return std::isfinite(x); });
    case Type::kCategorical:
    case Type::kMask:
    case Type::kMaskOne: return find_unless([](double x) { return x == 0 || std::abs(x) == 1; });
    case Type::kPermutationPointer: return find_unless([](double x) { return x == 0 || x == 1; });
    case Type::kPointer:
    case Type::kShouldBePermutation:
      return find_unless([&](double x) { return x >= 0 && x < nodes && x == static_cast<int>(x); });
  }
  return 0;
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
  const bool marks_one = probe.type == Type::kCategorical || probe.type == Type::kMaskOne;
  if (marks_one && all_one_hot(shape_of(probe, nodes).back(), value)) return;

  const std::size_t wrong = first_wrong(probe.type, nodes, value);
  RENAR_CHECK(wrong == value.size(),
              "[probe] {} '{}': element {} is {}, which the type does not allow ({} nodes)",
              name_of(probe.type), probe.name, wrong, value[wrong], nodes);
  if (marks_one || probe.type == Type::kPermutationPointer) {
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
