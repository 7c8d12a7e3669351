// The record of one run of an algorithm: its inputs, its outputs, and its hints frame by frame.
//
// An algorithm's file reads like the textbook, with a line wherever something is to be seen:
//
//   Trace trace(dfs_spec(), n);
//   trace.input({{"pos", positions(n)}, {"A", a}, {"adj", adjacency(a)}});
//   trace.hint({{"pi_h", pi}, {"color", one_hot_rows(color, 3)}, .., {"time", time}});
//   trace.output({{"pi", pi}});
//
// What is recorded is checked against the spec as it comes (check_value). Most of a frame is as it
// was in the frame before, or one-hot: the first is stored once, the second as the place of its
// mark. Both are cheaper to compare or to check than to copy.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "algos/matrix.h"
#include "algos/spec.h"

namespace renar {

/// `count` zeros but for a 1 at `index`: a mask_one, or the class of a categorical graph probe.
struct OneHot {
  int index;
  int count;

  operator std::vector<double>() const;
};

/// What a probe shows: a view of whatever the algorithm holds, of the temporaries in the same
/// statement too. It must not outlive that statement.
class ProbeValue {
 public:
  ProbeValue(double value) : value_(value) {}
  ProbeValue(OneHot value) : value_(value) {}
  ProbeValue(const std::vector<double>& values) : value_(std::span(values)) {}
  ProbeValue(const std::vector<int>& values) : value_(std::span(values)) {}
  ProbeValue(const Matrix& values) : value_(std::span(values.values())) {}

  /// Whether it is these numbers, to the bit.
  bool equals(std::span<const double> values) const;
  void append_to(std::vector<double>& values) const;
  const OneHot* one_hot() const { return std::get_if<OneHot>(&value_); }

 private:
  std::variant<double, OneHot, std::span<const double>, std::span<const int>> value_;
};

class Trace {
 public:
  struct Entry {
    std::string_view name;
    ProbeValue value;
  };
  using Entries = std::initializer_list<Entry>;

  /// The trace of a run over N nodes. The spec must outlive it.
  Trace(const Spec& spec, int nodes);

  /// Each names all probes of its stage, each once, in any order. Inputs and outputs are given one
  /// time, hints one time a frame. Throws renar::Error naming the probe that is missing or wrong;
  /// the trace is of no use then.
  void input(Entries entries);
  void hint(Entries entries);
  void output(Entries entries);

  const Spec& spec() const { return *spec_; }
  int nodes() const { return nodes_; }

  /// The number of hint frames, T.
  int frames() const { return frames_; }

  /// Whether inputs, outputs and at least one frame are there.
  bool complete() const { return has_input_ && has_output_ && frames_ > 0; }

  /// Appends the numbers of one frame of a hint; frame 0 is the value of an input or output.
  void append_frame(std::size_t probe, int frame, std::vector<double>& values) const;

  /// The values of a probe: one value of an input or output, all frames (T,...) of a hint.
  std::vector<double> values(std::size_t probe) const;
  std::vector<double> operator[](std::string_view name) const {
    return values(spec_->index_of(name));
  }

 private:
  /// Values in chunks that never move: tables of many frames would be copied again and again as
  /// one vector grows.
  struct Record {
    struct Place {
      std::uint32_t chunk, offset;
    };
    std::vector<std::vector<double>> chunks;  // each value that differs from the one before it
    std::vector<Place> places;                // where in them each frame starts
    std::vector<int> marks;  // in place of both: index + 1 of a frame's 1 (its -1 if < 0)

    /// A chunk with room for `count` more numbers.
    std::vector<double>& room_for(std::size_t count);
    const double* at(Place place) const { return chunks[place.chunk].data() + place.offset; }
  };

  void push(Stage stage, Entries entries);
  void record(std::size_t probe, const ProbeValue& value);
  int mark_of(const Probe& probe, const ProbeValue& value) const;

  const Spec* spec_;
  int nodes_;
  int frames_ = 0;
  bool has_input_ = false, has_output_ = false;
  std::vector<Record> records_;  // one a probe
};

/// The probe `pos`: i / N for node i.
std::vector<double> positions(int nodes);

/// The probe `adj`: 1 where A + I is not 0, that is, on edges and self-loops.
Matrix adjacency(const Matrix& a);

/// A mask_one: 1 at `index`, else 0. Throws renar::Error unless 0 <= index < nodes.
OneHot one_hot(int index, int nodes);

/// Categorical nodes (N,C): row i marks class classes_of[i].
std::vector<double> one_hot_rows(const std::vector<int>& classes_of, int classes);

/// The pointers of nodes that point to themselves: 0, 1, .., N-1.
std::vector<int> self_pointers(int nodes);

/// The probe `pred_h` of an array: each node points to the one before it in this order of all
/// nodes, the first to itself.
std::vector<int> predecessors(const std::vector<int>& order);

}  // namespace renar
