#include "nn/net.h"

#include <algorithm>

namespace renar {

/// What one shard carries along its time steps.
struct Net::Trajectory {
  Tape& tape;
  const Samples& samples;
  const Request& request;
  Composer composer;
  ProbeTensors probes{};  // inputs, and the hints that the current step reads
  Tensor hidden;          // (B,N,H)
};

Net::Net(const std::string& algorithm, const Spec& spec, const NetOptions& options)
    : spec_(spec), options_(options) {
  const Builder builder{parameters_, options.seed};
  processor_ = make_processor(builder, options.processor);
  const std::int64_t hidden = options.processor.hidden;
  encoder_ = std::make_unique<Encoder>(builder, algorithm, spec, hidden, options.encoder_init);
  for (const Probe& probe : spec) {
    decoders_.push_back(probe.stage == Stage::kInput
                            ? nullptr
                            : std::make_unique<Decoder>(builder, algorithm, probe, hidden,
                                                        processor_->makes_edges()));
  }
}

void Net::forward(Tape& tape, const Samples& samples, const Request& request) const {
  const std::int64_t nodes = samples.nodes();
  Trajectory run{tape, samples, request, Composer(tape, options_.exact), {}, {}};
  const Encoder::Stacked encoders = encoder_->stack_encoders(tape);
  for (std::size_t p = 0; p < spec_.size(); ++p) {  // step 0 reads the true hints of frame 0
    if (spec_[p].stage != Stage::kOutput) run.probes[p] = samples.features(tape, p, 0);
  }
  run.hidden = tape.constant({samples.size(), nodes, options_.processor.hidden});  // (B,N,H)
  std::fill_n(run.hidden.data, run.hidden.size(), Real{0});

  for (std::int64_t step = 0; step < samples.steps(); ++step) {
    const std::int64_t active = samples.active(step);  // finished samples have dropped out
    tape.begin_step();
    run.hidden = run.hidden.first(active);
    const EncodedStep encoded =
        encoder_->encode(tape, encoders, run.probes, active, nodes, processor_->reads_adjacency());
    const ProcessorOutputs next = process(run, encoded);
    const DecoderInputs in{encoded, run.hidden, next.hidden, next.edge,
                           processor_->masks_non_edges()};
    decode_outputs(run, in, step);
    decode_hints(run, in, step);
    run.hidden = tape.carry(next.hidden);
    tape.end_step();
  }
}

ProcessorOutputs Net::process(Trajectory& run, const EncodedStep& encoded) const {
  ProcessorOutputs next{run.hidden, {}};
  for (int i = 0; i < options_.message_passing_steps; ++i) {
    next = processor_->step(run.tape, run.composer,
                            {.node = encoded.node,
                             .edge = encoded.edge,
                             .graph = encoded.graph_on_nodes,
                             .adj = encoded.adj,
                             .hidden = next.hidden});
  }
  return next;
}

// The prediction of step t is the truth of frame t + 1, and what step t + 1 reads.
void Net::decode_hints(Trajectory& run, const DecoderInputs& in, std::int64_t step) const {
  const bool hard =
      options_.hint_repred == Repred::kHard ||
      (options_.hint_repred == Repred::kHardOnEval && run.request.pass == Pass::kEvaluate);
  for (std::size_t p = 0; p < spec_.size(); ++p) {
    if (spec_[p].stage != Stage::kHint) continue;
    const Tensor logits = decoders_[p]->decode(run.tape, run.composer, in);
    report(run, p, step + 1, 0, logits);
    if (step + 1 == run.samples.steps()) continue;
    const Tensor fed_back =
        postprocess(run.tape, spec_[p], logits, hard ? Postprocess::kHard : Postprocess::kSoft);
    run.probes[p] = run.tape.carry(fed_back);
  }
}

// An output is read at a sample's last step only, so its decoder runs there alone.
void Net::decode_outputs(Trajectory& run, const DecoderInputs& in, std::int64_t step) const {
  const std::int64_t begin = run.samples.active(step + 1), end = run.samples.active(step);
  if (begin == end) return;
  const DecoderInputs last = in.slice(begin, end);
  for (std::size_t p = 0; p < spec_.size(); ++p) {
    if (spec_[p].stage != Stage::kOutput) continue;
    report(run, p, 0, begin, decoders_[p]->decode(run.tape, run.composer, last));
  }
}

// Loss and predictions of samples begin, begin + 1, ..
void Net::report(Trajectory& run, std::size_t p, std::int64_t frame, std::int64_t begin,
                 Tensor logits) const {
  const bool hint = spec_[p].stage == Stage::kHint;
  const std::int64_t counted = hint ? run.samples.compared(frame - 1) : logits.dim(0);
  if (run.request.scales != nullptr && counted > 0) {
    add_loss(run.tape, run.samples, p, frame, begin, logits.first(counted),
             (*run.request.scales)[p], (*run.request.losses)[p]);
  }
  Predictions* predictions = run.request.predictions;
  if (predictions == nullptr || (hint && !predictions->with_hints)) return;
  const std::int64_t each = logits.size() / logits.dim(0);
  for (std::int64_t k = 0; k < logits.dim(0); ++k) {
    std::copy_n(logits.data + k * each, each,
                predictions->at(run.samples.batch(), p, hint ? frame - 1 : 0,
                                run.samples.index(begin + k)));
  }
}

}  // namespace renar
