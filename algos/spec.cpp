#include "algos/spec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/check.h"
#include "core/text.h"

namespace renar {
namespace {

/// 0 where the type allows the number x, else another number or NaN. Arithmetic without branches,
/// so that the loop over a value's numbers becomes SIMD code: every frame of a trace goes through
/// it.
template <Type type>
double defect(double x, int nodes) {
  switch (type) {
    case Type::kScalar: return x - x;  // NaN for NaN and the infinities
    case Type::kCategorical:
    case Type::kMask:
    case Type::kMaskOne: return x * (x * x - 1);
    case Type::kPermutationPointer: return x * (x - 1);
    case Type::kPointer:
    case Type::kShouldBePermutation: {
      constexpr double kWhole = 4503599627370496.0;  // 2^52: adding it rounds to a whole number
      const double nearest = std::min(std::max(x, 0.0), nodes - 1.0);
      return std::abs(x - nearest) + std::abs((x + kWhole) - kWhole - x);
    }
  }
  return 1;
}

/// 0 for 0 and -0 only.
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x) << 1; }

/// The first element that the type does not allow; the number of elements if there is none.
template <Type type>
std::size_t first_wrong(int nodes, std::span<const double> value) {
  std::uint64_t wrong = 0;
  for (const double x : value) wrong |= bits(defect<type>(x, nodes));
  if (wrong == 0) return value.size();
  return static_cast<std::size_t>(
      std::find_if(value.begin(), value.end(),
                   [&](double x) { return !(defect<type>(x, nodes) == 0); }) -
      value.begin());
}

std::size_t first_wrong(Type type, int nodes, std::span<const double> value) {
  switch (type) {
    case Type::kScalar: return first_wrong<Type::kScalar>(nodes, value);
    case Type::kCategorical: return first_wrong<Type::kCategorical>(nodes, value);
    case Type::kMask: return first_wrong<Type::kMask>(nodes, value);
    case Type::kMaskOne: return first_wrong<Type::kMaskOne>(nodes, value);
    case Type::kPermutationPointer: return first_wrong<Type::kPermutationPointer>(nodes, value);
    case Type::kPointer: return first_wrong<Type::kPointer>(nodes, value);
    case Type::kShouldBePermutation: return first_wrong<Type::kShouldBePermutation>(nodes, value);
  }
  return 0;
}

/// In every row along the last axis exactly one element is 1 or -1, the others are known to be 0.
void check_one_hot(const Probe& probe, std::size_t row_size, std::span<const double> value) {
  std::uint64_t wrong = 0;
  const auto marks_in = [](const double* row, std::size_t size) {
    double marks = 0;
    for (std::size_t i = 0; i < size; ++i) marks += row[i] * row[i];
    return marks;
  };
  for (std::size_t row = 0; row < value.size(); row += row_size) {
    wrong |= bits(marks_in(&value[row], row_size) - 1);
  }
  if (wrong == 0) return;
  for (std::size_t row = 0; row < value.size(); row += row_size) {
    const double marks = marks_in(&value[row], row_size);
    RENAR_CHECK(marks == 1, "[probe] {} '{}': row {} marks {} elements, expected one",
                name_of(probe.type), probe.name, row / row_size, marks);
  }
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
  const std::size_t n = static_cast<std::size_t>(nodes);
  std::size_t count = 1;
  switch (probe.location) {
    case Location::kNode: count = n; break;
    case Location::kEdge: count = n * n; break;
    case Location::kGraph: break;
  }
  if (probe.type == Type::kCategorical) count *= static_cast<std::size_t>(probe.classes);
  if (probe.type == Type::kPermutationPointer) count *= n;
  return count;
}

void check_value(const Probe& probe, int nodes, std::span<const double> value) {
  const std::size_t expected = count_of(probe, nodes);
  RENAR_CHECK(value.size() == expected, "[probe] {} '{}' has {} elements, expected {}",
              name_of(probe.type), probe.name, value.size(), expected);
  const std::size_t wrong = first_wrong(probe.type, nodes, value);
  RENAR_CHECK(wrong == value.size(),
              "[probe] {} '{}': element {} is {}, which the type does not allow ({} nodes)",
              name_of(probe.type), probe.name, wrong, value[wrong], nodes);
  if (probe.type == Type::kCategorical) {
    check_one_hot(probe, static_cast<std::size_t>(probe.classes), value);
  } else if (probe.type == Type::kMaskOne || probe.type == Type::kPermutationPointer) {
    check_one_hot(probe, static_cast<std::size_t>(nodes), value);
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
