// The decoder of one probe: hidden state to raw predictions (logits). docs/model.md 4.
//
//   h_t = [node_fts, hidden, hidden'] (B,N,3H)      e_t = [edge_fts, edge'] (B,N,N,2H), or edge_fts
//       alone; the reconstruction decoders (nn/reconstruction.h) read less
//   node   scalar mask mask_one categorical   Linear of h_t
//          pointer                            w . max(p1[j], p2[k] + p3(e_t)[k,j]) + b, j points at
//              k
//          permutation pointer                log_sinkhorn of that + noise, kDecoderRounds
//   edge   scalar mask mask_one categorical   d1(h_t)[i] + d2(h_t)[j] + d3(e_t)[i,j]
//          pointer                            w . max(d1(h_t)[i] + d2(h_t)[j] + d3(e_t)[i,j],
//              d4(h_t)[k]) + b, the edge (i,j) points at k
//   graph  scalar mask categorical            d1(max over nodes of h_t) + d2(graph_fts)
//          pointer                            that + d3(h_t)[k], the graph points at k
#pragma once

#include <array>
#include <string>

#include "nn/encoder.h"

namespace renar {

/// What decoders read of one step.
struct DecoderInputs {
  EncodedStep encoded;
  Tensor hidden;       // (B,N,H) before the step, or absent
  Tensor next_hidden;  // (B,N,H) after it, or absent
  Tensor next_edge;    // (B,N,N,H), or absent
  bool masks_non_edges = false;

  DecoderInputs slice(std::int64_t begin, std::int64_t end) const;
  /// The tensors, some of which may be absent.
  std::array<Tensor*, 7> tensors();
};

/// Rounds of log_sinkhorn in the decoder of a permutation pointer.
constexpr int kDecoderRounds = 10;

/// How many tensors of width H a decoder's h_t and e_t have; those that are not absent.
struct DecoderReads {
  std::int64_t node = 3, edge = 2;
};

class Decoder {
 public:
  /// Parameters <name>/<probe>/<k>/w and /b. The probe must outlive it.
  Decoder(const Builder& builder, const std::string& name, const Probe& probe, std::int64_t hidden,
          const DecoderReads& reads);

  /// Logits: nodes (B,N[,C]), edges (B,N,N[,C]), graphs (B[,C]); pointers have an axis N more.
  /// `noise` (B,N,N) is added to the logits of a permutation pointer; absent: none.
  Tensor decode(Tape& tape, Composer& composer, const DecoderInputs& in, Tensor noise = {}) const;
  /// Whether it reads what edges have: encoded, next_edge, and adj where non-edges are masked.
  bool reads_edges() const;

 private:
  void add_parts(Terms& terms, std::initializer_list<Tensor> parts, Tensor w) const;
  Terms from_nodes(Tape& tape, Composer& composer, const DecoderInputs& in, int layer) const;
  Terms from_edges(Tape& tape, Composer& composer, const DecoderInputs& in, int layer) const;
  Tensor decode_node(Tape& tape, Composer& composer, const DecoderInputs& in) const;
  Tensor decode_pointer(Tape& tape, Composer& composer, const DecoderInputs& in) const;
  Tensor decode_edge(Tape& tape, Composer& composer, const DecoderInputs& in) const;
  Tensor decode_edge_pointer(Tape& tape, Composer& composer, const DecoderInputs& in) const;
  Tensor decode_graph(Tape& tape, Composer& composer, const DecoderInputs& in) const;
  Tensor edges(Tape& tape, Composer& composer, const DecoderInputs& in) const;
  Tensor bias(Tape& tape, int layer) const { return tape.use(layer_(layer).b); }
  const Linear& layer_(int k) const { return layers_[static_cast<std::size_t>(k)]; }

  const Probe& probe_;
  std::int64_t hidden_;
  std::array<Linear, 5> layers_{};
};

}  // namespace renar
