#include "algos/trace.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.h"

namespace renar {

Trace::Trace(const Spec& spec, int nodes) : spec_(&spec), nodes_(nodes), values_(spec.size()) {
  RENAR_CHECK(nodes >= 1, "[trace] {} nodes, expected at least one", nodes);
}

void Trace::input(Entries entries) {
  RENAR_CHECK(!std::exchange(has_input_, true), "[trace] the inputs were given before ({} nodes)",
              nodes_);
  push(Stage::kInput, entries);
}

void Trace::hint(Entries entries) {
  push(Stage::kHint, entries);
  ++frames_;
}

void Trace::output(Entries entries) {
  RENAR_CHECK(!std::exchange(has_output_, true), "[trace] the outputs were given before ({} nodes)",
              nodes_);
  push(Stage::kOutput, entries);
}

void Trace::push(Stage stage, Entries entries) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < spec_->size(); ++i) {
    const Probe& probe = (*spec_)[i];
    if (probe.stage != stage) continue;
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& e) { return e.name == probe.name; });
    RENAR_CHECK(entry != entries.end(), "[trace] the {} '{}' is missing", name_of(stage),
                probe.name);
    const std::vector<double>& value = entry->value.values();
    check_value(probe, nodes_, value);
    values_[i].insert(values_[i].end(), value.begin(), value.end());
    ++used;
  }
  RENAR_CHECK(used == entries.size(), "[trace] {} entries for {} probes of stage {}",
              entries.size(), used, name_of(stage));
}

std::vector<double> positions(int nodes) {
  std::vector<double> pos(static_cast<std::size_t>(nodes));
  for (int i = 0; i < nodes; ++i) pos[static_cast<std::size_t>(i)] = i * 1.0 / nodes;
  return pos;
}

Matrix adjacency(const Matrix& a) {
  Matrix adj(a.rows(), a.columns());
  for (int i = 0; i < a.rows(); ++i) {
    for (int j = 0; j < a.columns(); ++j) adj(i, j) = a(i, j) + (i == j ? 1.0 : 0.0) != 0 ? 1 : 0;
  }
  return adj;
}

std::vector<double> one_hot(int index, int nodes) {
  RENAR_CHECK(index >= 0 && index < nodes, "[trace] one_hot({}) of {} nodes", index, nodes);
  std::vector<double> marks(static_cast<std::size_t>(nodes));
  marks[static_cast<std::size_t>(index)] = 1;
  return marks;
}

std::vector<double> one_hot_rows(const std::vector<int>& classes_of, int classes) {
  const std::size_t c = static_cast<std::size_t>(classes);
  std::vector<double> marks(classes_of.size() * c);
  for (std::size_t i = 0; i < classes_of.size(); ++i) {
    RENAR_CHECK(classes_of[i] >= 0 && classes_of[i] < classes, "[trace] class {} of {}",
                classes_of[i], classes);
    marks[i * c + static_cast<std::size_t>(classes_of[i])] = 1;
  }
  return marks;
}

std::vector<int> self_pointers(int nodes) {
  std::vector<int> pointers(static_cast<std::size_t>(nodes));
  std::iota(pointers.begin(), pointers.end(), 0);
  return pointers;
}

std::vector<int> predecessors(const std::vector<int>& order) {
  std::vector<int> pointers(order);
  for (std::size_t i = 1; i < order.size(); ++i) {
    pointers[static_cast<std::size_t>(order[i])] = order[i - 1];
  }
  if (!order.empty()) pointers[static_cast<std::size_t>(order[0])] = order[0];
  return pointers;
}

}  // namespace renar
