#include "algos/trace.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/check.h"

namespace renar {

Trace::Trace(const Spec& spec, int nodes) : spec_(&spec), nodes_(nodes) {
  RENAR_CHECK(nodes >= 1, "[trace] {} nodes, expected at least one", nodes);
  records_.reserve(spec.size());
  for (const Probe& probe : spec) records_.emplace_back(probe, nodes);
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
    const Entry* entry = entries.begin() + used;  // most often they come in the spec's order
    if (used >= entries.size() || entry->name != probe.name) {
      entry = std::find_if(entries.begin(), entries.end(),
                           [&](const Entry& e) { return e.name == probe.name; });
    }
    RENAR_CHECK(entry != entries.end(), "[trace] the {} '{}' is missing", name_of(stage),
                probe.name);
    records_[i].add(entry->value);
    ++used;
  }
  RENAR_CHECK(used == entries.size(), "[trace] {} entries for {} probes of stage {}",
              entries.size(), used, name_of(stage));
}

std::vector<double> Trace::values(std::size_t probe) const {
  const int frames = (*spec_)[probe].stage == Stage::kHint ? frames_ : 1;
  std::vector<double> values;
  for (int t = 0; t < frames; ++t) append_frame(probe, t, values);
  return values;
}

std::vector<double> positions(int nodes) {
  std::vector<double> pos(static_cast<std::size_t>(nodes));
  for (int i = 0; i < nodes; ++i) pos[static_cast<std::size_t>(i)] = i * 1.0 / nodes;
  return pos;
}

MaskMatrix adjacency(const Matrix& a) {
  MaskMatrix adj(a.rows(), a.columns());
  std::transform(a.values().begin(), a.values().end(), adj.values().begin(),
                 [](double weight) { return static_cast<Mark>(weight != 0); });
  for (int i = 0; i < std::min(a.rows(), a.columns()); ++i) adj(i, i) = a(i, i) + 1 != 0 ? 1 : 0;
  return adj;
}

OneHot one_hot(int index, int nodes) {
  RENAR_CHECK(index >= 0 && index < nodes, "[trace] one_hot({}) of {} nodes", index, nodes);
  return {index, nodes};
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
