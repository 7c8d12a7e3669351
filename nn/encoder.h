// The encoder: raw probe data to node, edge and graph features. docs/model.md 2.
//
// Every probe has a Linear(H) of its own, an edge pointer two. Node data and graph pointers go to
// node_fts, node pointers and edge data to edge_fts, other graph data to graph_fts. The sum of the
// encodings is kept as S V (nn/features.h): S is the probes' raw numbers side by side and a column
// of ones, V their weights and, in its last row, the sum of their biases.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "nn/batch.h"
#include "nn/features.h"
#include "nn/layers.h"

namespace renar {

constexpr std::size_t kMaxProbes = 40;
/// One tensor a probe, by its place in the spec; absent where the stage has none.
using ProbeTensors = std::array<Tensor, kMaxProbes>;

/// Standard deviation of the encoders of scalar hints.
enum class EncoderInit { kDefault, kXavierOnScalars };

/// What becomes of hints: they are read and predicted, predicted only, or neither.
enum class HintMode { kEncodedDecoded, kDecodedOnly, kNone };
constexpr bool reads_hints(HintMode mode) { return mode == HintMode::kEncodedDecoded; }
constexpr bool predicts_hints(HintMode mode) { return mode != HintMode::kNone; }

struct EncodedStep {
  Features node;            // (B,N,R)
  Features edge;            // (B,N,N,R)
  Features graph;           // (B,R)
  Features graph_on_nodes;  // (B,N,R)
  Tensor adj;               // (B,N,N), absent unless asked for

  EncodedStep slice(std::int64_t begin, std::int64_t end) const;
};

class Encoder {
 public:
  /// Parameters <name>/encode/<probe>/w and /b for every input and hint that is read; those of an
  /// edge pointer are <name>/encode/<probe>/0/w and so on, and 1/w. The spec must outlive it.
  /// Throws renar::Error for a spec of more probes than there is room for.
  Encoder(const Builder& builder, const std::string& name, const Spec& spec, std::int64_t hidden,
          EncoderInit init, HintMode hints = HintMode::kEncodedDecoded);

  /// The stacked encoders V of the three locations, made once a trajectory.
  struct Stacked {
    Tensor node, edge, graph;  // (R,H)
  };
  Stacked stack_encoders(Tape& tape) const;

  /// `probes` holds inputs and hints as they are read (Samples::features, read_form); all have
  /// `batch` samples or more.
  EncodedStep encode(Tape& tape, const Stacked& stacked, const ProbeTensors& probes,
                     std::int64_t batch, std::int64_t nodes, bool want_adjacency) const;

 private:
  const Spec& spec_;
  std::int64_t hidden_;
  std::vector<std::size_t> read_;  // the probes that are read, by their places in the spec
  std::array<Linear, kMaxProbes> layers_{};
  std::array<Linear, kMaxProbes> second_{};  // of edge pointers
};

/// The numbers of one sample's probe as the encoder reads it.
std::int64_t read_size(const Probe& probe, std::int64_t nodes);

/// A postprocessed prediction as the encoder reads it: as it is, but edge pointers (B,N,N,N) as
/// their means (B,N,N,2).
Tensor read_form(Tape& tape, const Probe& probe, Tensor prediction);

}  // namespace renar
