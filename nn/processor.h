// The processor: one step of message passing on encoded features. docs/model.md 3.
//
// The table of kinds is in processor.cpp, one line a kind; a family of kinds is one file in
// processors/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/encoder.h"
#include "nn/features.h"
#include "nn/layers.h"

namespace renar {

struct ProcessorOptions {
  std::string kind = "triplet_gmpnn";
  std::int64_t hidden = 128;
  std::int64_t triplet_fts = 8;
  bool layer_norm = true;
  std::int64_t heads = 1;  ///< of attention, read by gat* alone; must divide `hidden`
};

struct ProcessorInputs {
  Features node;   // (B,N,R) x (R,H)
  Features edge;   // (B,N,N,R) x (R,H)
  Features graph;  // (B,N,R) x (R,H): the graph's numbers stand at each of its nodes
  Tensor adj;      // (B,N,N); absent unless reads_adjacency()
  Tensor hidden;   // (B,N,H)
};

struct ProcessorOutputs {
  Tensor hidden;  // (B,N,H)
  Tensor edge;    // (B,N,N,H), absent where the processor makes none
};

class Processor {
 public:
  virtual ~Processor() = default;
  /// One round of messages: hidden' and edges' of the state and `in.hidden`. Throws as check_nodes.
  virtual ProcessorOutputs step(Tape& tape, Composer& composer,
                                const ProcessorInputs& in) const = 0;
  /// Throws renar::Error if it cannot serve graphs of so many nodes.
  virtual void check_nodes(std::int64_t) const {}
  /// Whether `step` wants the adjacency matrix.
  virtual bool reads_adjacency() const = 0;
  /// Pointer and edge-mask decoders rule out what is not an edge.
  virtual bool masks_non_edges() const = 0;
  /// Whether `step` gives edges' as well.
  virtual bool makes_edges() const = 0;
};

/// `passes` (at least 1) steps on one encoded state: each reads the hidden' of the one before, the
/// first `hidden`.
ProcessorOutputs pass_messages(const Processor& processor, Tape& tape, Composer& composer,
                               const EncodedStep& encoded, Tensor hidden, int passes);

/// All kinds, for --help and for errors.
std::vector<std::string> processor_kinds();

/// Parameters are named processor/<layer>/..; throws renar::UsageError on an unknown kind.
std::unique_ptr<Processor> make_processor(const Builder& builder, const ProcessorOptions& options);

}  // namespace renar
