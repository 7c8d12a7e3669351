#include "algos/trace.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/check.h"

namespace renar {

namespace {

/// Whether a value has a single row along its last axis, with one mark in it.
bool is_one_hot(const Probe& probe) {
  return (probe.type == Type::kMaskOne && probe.location == Location::kNode) ||
         (probe.type == Type::kCategorical && probe.location == Location::kGraph);
}

}  // namespace

OneHot::operator std::vector<double>() const {
  std::vector<double> marks(static_cast<std::size_t>(count));
  marks[static_cast<std::size_t>(index)] = 1;
  return marks;
}

bool ProbeValue::equals(std::span<const double> values) const {
  if (const auto* numbers = std::get_if<std::span<const double>>(&value_)) {
    return numbers->size() == values.size() &&
           std::memcmp(numbers->data(), values.data(), values.size_bytes()) == 0;
  }
  if (const auto* indices = std::get_if<std::span<const int>>(&value_)) {
    if (indices->size() != values.size()) return false;
    std::int64_t differing = 0;
    for (std::size_t i = 0; i < values.size(); ++i) differing += (*indices)[i] != values[i];
    return differing == 0;
  }
  std::vector<double> numbers;
  append_to(numbers);
  return ProbeValue(numbers).equals(values);
}

void ProbeValue::append_to(std::vector<double>& values) const {
  struct Append {
    std::vector<double>& values;
    void operator()(double value) { values.push_back(value); }
    void operator()(const OneHot& one) {
      values.resize(values.size() + static_cast<std::size_t>(one.count));
      values[values.size() - static_cast<std::size_t>(one.count - one.index)] = 1;
    }
    void operator()(std::span<const double> more) {
      values.insert(values.end(), more.begin(), more.end());
    }
    void operator()(std::span<const int> more) {
      values.insert(values.end(), more.begin(), more.end());
    }
  };
  std::visit(Append{values}, value_);
}

Trace::Trace(const Spec& spec, int nodes) : spec_(&spec), nodes_(nodes), records_(spec.size()) {
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
    const Entry* entry = entries.begin() + used;  // most often they come in the spec's order
    if (used >= entries.size() || entry->name != probe.name) {
      entry = std::find_if(entries.begin(), entries.end(),
                           [&](const Entry& e) { return e.name == probe.name; });
    }
    RENAR_CHECK(entry != entries.end(), "[trace] the {} '{}' is missing", name_of(stage),
                probe.name);
    record(i, entry->value);
    ++used;
  }
  RENAR_CHECK(used == entries.size(), "[trace] {} entries for {} probes of stage {}",
              entries.size(), used, name_of(stage));
}

void Trace::record(std::size_t probe, const ProbeValue& value) {
  Record& record = records_[probe];
  if (is_one_hot((*spec_)[probe])) {
    record.marks.push_back(mark_of((*spec_)[probe], value));
    return;
  }
  const std::size_t count = count_of((*spec_)[probe], nodes_);
  if (!record.places.empty()) {
    const Record::Place last = record.places.back();
    if (value.equals(std::span(record.at(last), count))) {
      record.places.push_back(last);
      return;
    }
  }
  std::vector<double>& chunk = record.room_for(count);
  const std::size_t start = chunk.size();
  value.append_to(chunk);
  check_value((*spec_)[probe], nodes_, std::span(chunk).subspan(start));
  record.places.push_back(
      {static_cast<std::uint32_t>(record.chunks.size() - 1), static_cast<std::uint32_t>(start)});
}

std::vector<double>& Trace::Record::room_for(std::size_t count) {
  constexpr std::size_t kLargest = 16384;  // 128 KiB: what malloc serves without asking the system
  const std::size_t before = chunks.empty() ? 0 : chunks.back().capacity();
  if (chunks.empty() || chunks.back().size() + count > before) {
    chunks.emplace_back().reserve(std::max(count, std::min(2 * before, kLargest)));
  }
  return chunks.back();
}

int Trace::mark_of(const Probe& probe, const ProbeValue& value) const {
  const OneHot* one = value.one_hot();
  const bool fits =
      one != nullptr && static_cast<std::size_t>(one->count) == count_of(probe, nodes_);
  if (fits) return one->index + 1;
  std::vector<double> numbers;
  value.append_to(numbers);
  check_value(probe, nodes_, numbers);
  const auto marked = std::find_if(numbers.begin(), numbers.end(), [](double x) { return x != 0; });
  return static_cast<int>(marked - numbers.begin() + 1) * (*marked > 0 ? 1 : -1);
}

void Trace::append_frame(std::size_t probe, int frame, std::vector<double>& values) const {
  const Record& record = records_[probe];
  const std::size_t count = count_of((*spec_)[probe], nodes_), t = static_cast<std::size_t>(frame);
  if (!record.marks.empty()) {
    const int mark = record.marks[t];
    values.resize(values.size() + count);
    (values.end() - static_cast<std::ptrdiff_t>(count))[std::abs(mark) - 1] = mark > 0 ? 1 : -1;
    return;
  }
  const double* from = record.at(record.places[t]);
  values.insert(values.end(), from, from + count);
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

Matrix adjacency(const Matrix& a) {
  Matrix adj(a.rows(), a.columns());
  for (int i = 0; i < a.rows(); ++i) {
    for (int j = 0; j < a.columns(); ++j) adj(i, j) = a(i, j) + (i == j ? 1.0 : 0.0) != 0 ? 1 : 0;
  }
  return adj;
}

OneHot one_hot(int index, int nodes) {
  RENAR_CHECK(index >= 0 && index < nodes, "[trace] one_hot({}) of {} nodes", index, nodes);
  return {index, nodes};
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
