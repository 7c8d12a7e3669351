// The encoder of ReNAR and M-ReNAR: a GNN over the encoded state, a gate that mixes what it found
// into the state's features, and decoders that recover the state from it (paper, sections 3 and 4;
// docs/model.md 9, whose forms of gate and decoders are those of the authors' code).
//
//   z          encodings of inputs and hints, the features of docs/model.md 2
//   zbar^(j)   = GNN(z^(j), hidden), z^(j) encodes the state as round j reads it: all of it
//              (ReNAR), or with some of it hidden (M-ReNAR, nn/hint_masks.h)
//   zbar       = mean over rounds of zbar^(j)
//   gated      = (o(z) + zbar) g + z (1 - g),  g = sigmoid(g3(relu(g1(z) + g2(zbar)))): for nodes
//              and, where the GNN makes edge', for edges. Processor and decoders read it for z.
//   h~^(j)     = reconstruction decoders on [z^(j), zbar^(j)]; L = L_pred + lambda L_rec(h~, h)
//
// ReNAR-linear (paper, first ablation) has the reconstruction decoders alone, on z.
// In evaluation nothing is hidden and nothing is recovered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/decoder.h"
#include "nn/encoder.h"
#include "nn/gate.h"
#include "nn/hint_masks.h"
#include "nn/processor.h"
#include "nn/reconstruction_loss.h"

namespace renar {

/// What trains the encoder beside the prediction. M-ReNAR is kRenar with a mask ratio.
enum class Method { kBaseline, kRenar, kRenarLinear };

struct ReconstructionOptions {
  Method method = Method::kBaseline;
  double weight = 0.1;  ///< lambda
  MaskOptions masks;
};

class Reconstruction {
 public:
  /// The GNN, of the processor's kind; ReNAR-linear has none. Parameters reconstruction/processor/.
  Reconstruction(const Builder& builder, const ProcessorOptions& processor,
                 const ReconstructionOptions& options);
  /// The gates, which do not freeze with the processors. Parameters reconstruction/gate_<what>/..
  void add_gates(const Builder& builder);
  /// The decoders of a task's hints. Parameters <algorithm>/reconstruct/<hint>/..
  void add_task(const Builder& builder, const std::string& algorithm, const Spec& spec);

  /// One time step of the net as the encoder reads it.
  struct State {
    const Encoder& encoder;
    const Encoder::Stacked& encoders;
    const ProbeTensors& probes;     ///< inputs, and hints as they are read
    const ProbeTensors& edge_rows;  ///< edge pointers, of which `probes` has the means, whole
    const EncodedStep& encoded;     ///< z
    Tensor hidden;                  ///< (B,N,H)
    std::int64_t step = 0;
    const std::uint8_t* forced = nullptr;  ///< (B) who reads the truth, but for the first step
  };
  /// Training: what is hidden, and where L_rec goes.
  struct Training {
    const NoiseKey& noise;
    std::uint64_t seed = 0;
    bool soft = true;  ///< hints are fed back soft
    /// Of each round, where the tape's device is; null: L_rec is not wanted.
    const LossScales* scales = nullptr;
    LossSum loss = {};
    const std::uint8_t* counted = nullptr;  ///< (B) whose loss counts; null: everybody's
  };
  /// z as the processor and the decoders should read it; `training` null: evaluation.
  EncodedStep enrich(Tape& tape, Composer& composer, const Samples& samples, const State& state,
                     int message_passing_steps, const Training* training) const;

 private:
  struct GateNet {
    Linear o;
    Gate gate;
  };
  struct Round {
    EncodedStep encoded;       // z^(j)
    ProcessorOutputs found{};  // zbar^(j)
  };
  Round* encode_rounds(Tape& tape, const State& state, int rounds, const ShardMasks* masks) const;
  Tensor mean_found(Tape& tape, const Round* rounds, int count,
                    Tensor ProcessorOutputs::*which) const;
  Tensor gated(Tape& tape, Composer& composer, const Features& z, Tensor found,
               const GateNet& net) const;
  void recover(Tape& tape, Composer& composer, const Samples& samples, const State& state,
               const Round& round, int j, const ShardMasks* masks, const Training& training) const;

  ReconstructionOptions options_;
  std::int64_t hidden_;
  std::unique_ptr<Processor> gnn_;  // null: ReNAR-linear
  GateNet node_gate_{}, edge_gate_{};
  std::vector<std::vector<std::unique_ptr<Decoder>>> decoders_;  // by task and probe
};

}  // namespace renar
