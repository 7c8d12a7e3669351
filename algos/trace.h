// The record of one run of an algorithm: its inputs, its outputs, and its hints frame by frame.
//
// An algorithm's file reads like the textbook, with a line wherever something is to be seen:
//
//   Trace trace(dfs_spec(), n);
//   trace.input({{"pos", positions(n)}, {"A", a}, {"adj", adjacency(a)}});
//   trace.hint({{"pi_h", pi}, {"color", one_hot_rows(color, 3)}, .., {"time", time}});
//   trace.output({{"pi", pi}});
//
// What is recorded is checked against the spec as it comes (check_value) and kept in small
// (ProbeRecord): masks are best shown as Mask or MaskMatrix, pointers as ints, one-hots as one_hot
// or one_hot_rows. Any other way of showing the same numbers does, more slowly.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "algos/matrix.h"
#include "algos/probe_record.h"
#include "algos/spec.h"

namespace renar {

class Trace {
 public:
  struct Entry {
    std::string_view name;
    ProbeValue value;
  };
  using Entries = std::initializer_list<Entry>;

  /// The trace of a run over N nodes. The spec must outlive it. Throws renar::Error for nodes < 1.
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
  void append_frame(std::size_t probe, int frame, std::vector<double>& values) const {
    records_[probe].append_frame(static_cast<std::size_t>(frame), values);
  }

  /// The values of a probe: one value of an input or output, all frames (T,...) of a hint.
  std::vector<double> values(std::size_t probe) const;
  std::vector<double> operator[](std::string_view name) const {
    return values(spec_->index_of(name));
  }

 private:
  void push(Stage stage, Entries entries);

  const Spec* spec_;
  int nodes_;
  int frames_ = 0;
  bool has_input_ = false, has_output_ = false;
  std::vector<ProbeRecord> records_;  // one a probe
};

/// The probe `pos`: i / N for node i.
std::vector<double> positions(int nodes);

/// The probe `adj`: 1 where A + I is not 0, that is, on edges and self-loops.
MaskMatrix adjacency(const Matrix& a);

/// A mask_one: 1 at `index`, else 0. Throws renar::Error unless 0 <= index < nodes.
OneHot one_hot(int index, int nodes);

/// Categorical nodes (N,C) or edges: row i marks class classes_of[i] (see OneHotRows).
inline OneHotRows one_hot_rows(const std::vector<int>& classes_of, int classes) {
  return {classes_of, classes};
}

/// The pointers of nodes that point to themselves: 0, 1, .., N-1.
std::vector<int> self_pointers(int nodes);

/// The probe `pred_h` of an array: each node points to the one before it in this order of all
/// nodes, the first to itself.
std::vector<int> predecessors(const std::vector<int>& order);

}  // namespace renar
