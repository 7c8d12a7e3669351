#include "nn/reconstruction.h"

#include <optional>

#include "core/profile.h"
#include "kernels/gated_update.h"
#include "kernels/hide.h"
#include "kernels/mean.h"
#include "kernels/pointwise.h"

namespace renar {

Reconstruction::Reconstruction(const Builder& builder, const ProcessorOptions& processor,
                               const ReconstructionOptions& options)
    : options_(options), hidden_(processor.hidden) {
  if (options.method == Method::kRenarLinear) return;
  gnn_ = make_processor({builder.parameters, builder.seed, "reconstruction/"}, processor);
}

void Reconstruction::add_gates(const Builder& builder) {
  if (gnn_ == nullptr) return;
  const auto make = [&](const std::string& what) {
    const std::string name = "reconstruction/gate_" + what;
    const Linear o = make_linear(builder, name + "/o", hidden_, hidden_);
    return GateNet{o, make_gate(builder, name, hidden_, hidden_)};
  };
  node_gate_ = make("node");
  if (gnn_->makes_edges()) edge_gate_ = make("edge");
}

void Reconstruction::add_task(const Builder& builder, const std::string& algorithm,
                              const Spec& spec) {
  const DecoderReads reads = gnn_ == nullptr
                                 ? DecoderReads{.node = 1, .edge = 1}
                                 : DecoderReads{.node = 2, .edge = gnn_->makes_edges() ? 2 : 1};
  auto& decoders = decoders_.emplace_back();
  for (const Probe& probe : spec) {
    decoders.push_back(
        probe.stage == Stage::kHint
            ? std::make_unique<Decoder>(builder, algorithm + "/reconstruct", probe, hidden_, reads)
            : nullptr);
  }
}

EncodedStep Reconstruction::enrich(Tape& tape, Composer& composer, const Samples& samples,
                                   const State& state, int message_passing_steps,
                                   const Training* training) const {
  const ProfileRange range("reconstruction");
  std::optional<HintMasks> masks;
  std::optional<ShardMasks> shard;
  if (training != nullptr && options_.masks.ratio > 0) {
    masks.emplace(samples.spec(), samples.nodes(), options_.masks);
    if (masks->parts() > 0) {
      shard.emplace(tape, *masks, training->seed, training->noise, samples, state.hidden.dim(0),
                    state.step);
    }
  }
  const int rounds = masks ? masks->rounds() : 1;
  const ShardMasks* hidden = shard ? &*shard : nullptr;
  Round* all = encode_rounds(tape, state, rounds, hidden);
  EncodedStep read = state.encoded;
  // The authors' processors and decoders see the edges that the last round left.
  if (options_.masks.masking == Masking::kAuthors) read.adj = all[rounds - 1].encoded.adj;
  for (int j = 0; j < rounds; ++j) {
    all[j].encoded.adj = read.adj;
    if (gnn_ != nullptr) {
      all[j].found =
          pass_messages(*gnn_, tape, composer, all[j].encoded, state.hidden, message_passing_steps);
    }
    if (training != nullptr && training->scales != nullptr) {
      recover(tape, composer, samples, state, all[j], j, hidden, *training);
    }
  }
  if (gnn_ == nullptr) return read;
  const Tensor nodes = mean_found(tape, all, rounds, &ProcessorOutputs::hidden);
  read.node = {gated(tape, composer, state.encoded.node, nodes, node_gate_), {}};
  if (!gnn_->makes_edges()) return read;
  const Tensor edges = mean_found(tape, all, rounds, &ProcessorOutputs::edge);
  read.edge = {gated(tape, composer, state.encoded.edge, edges, edge_gate_), {}};
  return read;
}

// z^(j) of each round: the state with its hidden parts set to zero, through the same encoders.
Reconstruction::Round* Reconstruction::encode_rounds(Tape& tape, const State& state, int rounds,
                                                     const ShardMasks* masks) const {
  Round* all = tape.host_array<Round>(rounds);
  const std::int64_t batch = state.hidden.dim(0), nodes = state.hidden.dim(1);
  for (int j = 0; j < rounds; ++j) {
    new (all + j) Round{state.encoded, {}};
    if (masks == nullptr) continue;
    ProbeTensors probes = state.probes;
    for (std::size_t p = 0; p < probes.size(); ++p) {
      const Tensor hidden = probes[p] ? masks->of(j, p) : Tensor{};
      if (hidden) probes[p] = hide(tape, probes[p].first(batch), hidden);
    }
    const bool wants_adjacency =
        state.encoded.adj && j + 1 == rounds && options_.masks.masking == Masking::kAuthors;
    all[j].encoded =
        state.encoder.encode(tape, state.encoders, probes, batch, nodes, wants_adjacency);
  }
  return all;
}

Tensor Reconstruction::mean_found(Tape& tape, const Round* rounds, int count,
                                  Tensor ProcessorOutputs::*which) const {
  Tensor* all = tape.host_array<Tensor>(count);
  for (int j = 0; j < count; ++j) all[j] = rounds[j].found.*which;
  return mean(tape, all, count);
}

Tensor Reconstruction::gated(Tape& tape, Composer& composer, const Features& z, Tensor found,
                             const GateNet& net) const {
  const ProfileRange range("gate");
  const Tensor o = linear(tape, {composer.term(z, tape.use(net.o.w))}, {tape.use(net.o.b)});
  const Tensor logit =
      gate_logit(tape, {composer.term(z, tape.use(net.gate.gate_1.w))}, found, net.gate);
  return gated_update(tape, logit, add(tape, o, found), composer.dense(z));
}

// The losses of one round's decoders, for the samples that step i's frame counts of.
void Reconstruction::recover(Tape& tape, Composer& composer, const Samples& samples,
                             const State& state, const Round& round, int j, const ShardMasks* masks,
                             const Training& training) const {
  const ProfileRange range("recover");
  const Spec& spec = samples.spec();
  const std::int64_t counted = samples.compared(state.step);
  if (counted == 0) return;
  const auto first = [&](const Tensor& x) { return x ? x.first(counted) : x; };
  const Tensor found = gnn_ == nullptr ? Tensor{} : first(round.found.hidden);
  const DecoderInputs in{round.encoded.slice(0, counted),
                         {},
                         found,
                         first(round.found.edge),
                         gnn_ != nullptr && gnn_->masks_non_edges()};
  for (std::size_t p = 0; p < spec.size(); ++p) {
    if (spec[p].stage != Stage::kHint) continue;
    const Tensor hidden = masks == nullptr ? Tensor{} : masks->of(j, p);
    if (options_.masks.ratio > 0 && !hidden) continue;
    const auto& decoder = decoders_[static_cast<std::size_t>(samples.batch().task)][p];
    add_reconstruction_loss(
        tape, spec[p],
        {.logits = decoder->decode(tape, composer, in),
         .fed_in = first(is_edge_pointer(spec[p]) ? state.edge_rows[p] : state.probes[p]),
         .hidden = first(hidden),
         .first_step = state.step == 0,
         .forced = state.forced,
         .counted = training.counted,
         .masking = options_.masks.masking,
         .soft = training.soft},
        training.scales[j].data() + p, training.loss);
  }
}

}  // namespace renar
