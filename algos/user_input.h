// What a user gives an algorithm to run on, in place of a sampler: numbers, lists, tables and
// strings by name, as `renar_data trace --input` reads them from a JSON object.
//
// An algorithm says which names it takes (Algorithm::inputs) and asks for each in the form that it
// needs:
//
//   Trace run_dijkstra(const UserInput& input) {
//     return dijkstra(input.matrix("A"), input.index("s"));
//   }
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "algos/matrix.h"

namespace renar {

class UserInput {
 public:
  using Value = std::variant<double, std::string, std::vector<double>, Matrix>;

  void set(const std::string& name, Value value) { values_.insert_or_assign(name, value); }
  const std::map<std::string, Value>& values() const { return values_; }

  /// Each throws renar::UsageError, naming the input and what was expected, if it is missing, of
  /// another form, empty or not finite.
  double number(std::string_view name) const;
  /// A whole number of at least 0, such as a node.
  int index(std::string_view name) const;
  std::vector<double> list(std::string_view name) const;
  /// A table of rows of equal length.
  Matrix table(std::string_view name) const;
  /// A square table: the weights of a graph.
  Matrix matrix(std::string_view name) const;
  /// A string of A, C, G, T (any case) or a list of whole numbers 0 .. 3, as those numbers.
  std::vector<int> letters(std::string_view name) const;

 private:
  const Value& at(std::string_view name) const;

  std::map<std::string, Value> values_;
};

/// The alphabet of the string algorithms, letter 0 first.
constexpr std::string_view kLetters = "ACGT";

}  // namespace renar
