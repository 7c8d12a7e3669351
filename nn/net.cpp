#include "nn/net.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/rng.h"
#include "kernels/choose_samples.h"

namespace renar {

/// What one shard carries along its time steps.
struct Net::Trajectory {
  Tape& tape;
  const Samples& samples;
  const Request& request;
  const Heads& heads;
  const Spec& spec;
  Composer composer;
  ProbeTensors probes{};  // inputs, and the hints that the current step reads
  Tensor hidden;          // (B,N,H)

  CounterRng* coins = nullptr;           // (B) of teacher forcing, one stream a sample
  const std::uint8_t* forced = nullptr;  // (B) who reads the truth in the next step
};

Net::Net(std::vector<Task> tasks, const NetOptions& options)
    : tasks_(std::move(tasks)), options_(options) {
  RENAR_CHECK(!tasks_.empty(), "[net] {} algorithms, expected at least one", tasks_.size());
  const Builder builder{parameters_, options.seed};
  processor_ = make_processor(builder, options.processor);
  const std::int64_t hidden = options.processor.hidden, shared = parameters_.size();
  for (const Task& task : tasks_) {
    Heads& heads = heads_.emplace_back();
    const std::int64_t begin = parameters_.size();
    heads.encoder = std::make_unique<Encoder>(builder, task.algorithm, task.spec, hidden,
                                              options.encoder_init, options.hints);
    for (const Probe& probe : task.spec) {
      const bool predicted = probe.stage == Stage::kOutput ||
                             (probe.stage == Stage::kHint && predicts_hints(options.hints));
      heads.decoders.push_back(predicted
                                   ? std::make_unique<Decoder>(builder, task.algorithm, probe,
                                                               hidden, processor_->makes_edges())
                                   : nullptr);
    }
    heads.active = {shared, begin, parameters_.size()};
  }
}

void Net::forward(Tape& tape, const Samples& samples, const Request& request) const {
  const std::int64_t nodes = samples.nodes();
  const auto task = static_cast<std::size_t>(samples.batch().task);
  const Heads& heads = heads_[task];
  const Spec& spec = tasks_[task].spec;
  Trajectory run{tape, samples, request, heads, spec, Composer(tape, options_.exact), {}, {}};
  const Encoder::Stacked encoders = heads.encoder->stack_encoders(tape);
  for (std::size_t p = 0; p < spec.size(); ++p) {  // step 0 reads the true hints of frame 0
    if (spec[p].stage != Stage::kOutput) run.probes[p] = samples.features(tape, p, 0);
  }
  run.hidden = tape.constant({samples.size(), nodes, options_.processor.hidden});  // (B,N,H)
  std::fill_n(run.hidden.data, run.hidden.size(), Real{0});
  start_forcing(run);

  for (std::int64_t step = 0; step < samples.steps(); ++step) {
    const std::int64_t active = samples.active(step);  // finished samples have dropped out
    tape.begin_step();
    run.hidden = run.hidden.first(active);
    const EncodedStep encoded = heads.encoder->encode(tape, encoders, run.probes, active, nodes,
                                                      processor_->reads_adjacency());
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

// Logits of samples begin, begin + 1, .. in this step.
Tensor Net::decode(Trajectory& run, const DecoderInputs& in, std::size_t p, std::int64_t step,
                   std::int64_t begin) const {
  const bool noisy =
      run.request.pass == Pass::kTrain && run.spec[p].type == Type::kPermutationPointer;
  const Tensor noise = noisy ? gumbel_noise(run.tape, options_.seed, run.request.noise, run.samples,
                                            p, step, begin, in.hidden.dim(0))
                             : Tensor{};
  return run.heads.decoders[p]->decode(run.tape, run.composer, in, noise);
}

// The prediction of step t is the truth of frame t + 1, and what step t + 1 reads.
void Net::decode_hints(Trajectory& run, const DecoderInputs& in, std::int64_t step) const {
  if (!predicts_hints(options_.hints)) return;
  force_samples(run, step);
  for (std::size_t p = 0; p < run.spec.size(); ++p) {
    if (run.spec[p].stage != Stage::kHint) continue;
    const Tensor logits = decode(run, in, p, step, 0);
    report(run, p, step + 1, 0, logits);
    if (step + 1 == run.samples.steps() || !reads_hints(options_.hints)) continue;
    run.probes[p] = run.tape.carry(next_hint(run, p, step, logits));
  }
}

// Teacher forcing that is neither never nor always: each sample has a stream of coins of its own,
// keyed by the update and its place in the batch.
void Net::start_forcing(Trajectory& run) const {
  const double p = options_.teacher_forcing;
  if (run.request.pass != Pass::kTrain || p <= 0 || p >= 1) return;
  run.coins = run.tape.array<CounterRng>(run.samples.size());
  for (std::int64_t k = 0; k < run.samples.size(); ++k) {
    run.coins[k] = CounterRng(options_.seed, Purpose::kTeacherForcing,
                              static_cast<std::uint32_t>(run.request.noise.update),
                              static_cast<std::uint32_t>(run.samples.index(k)));
  }
}

void Net::force_samples(Trajectory& run, std::int64_t step) const {
  if (run.coins == nullptr) return;
  const std::int64_t active = run.samples.active(step);
  std::uint8_t* forced = run.tape.array<std::uint8_t>(active);
  for (std::int64_t k = 0; k < active; ++k) {
    forced[k] = run.coins[k].uniform() < options_.teacher_forcing ? 1 : 0;
  }
  run.forced = forced;
}

// What step + 1 reads: the prediction or, where the teacher forces a sample, the truth.
Tensor Net::next_hint(Trajectory& run, std::size_t p, std::int64_t step, Tensor logits) const {
  const bool training = run.request.pass == Pass::kTrain;
  const Tensor truth = training && options_.teacher_forcing > 0
                           ? run.samples.features(run.tape, p, step + 1).first(logits.dim(0))
                           : Tensor{};
  if (training && options_.teacher_forcing == 1) return truth;
  const bool hard = options_.hint_repred == Repred::kHard ||
                    (options_.hint_repred == Repred::kHardOnEval && !training);
  const Tensor predicted = read_form(
      run.tape, run.spec[p],
      postprocess(run.tape, run.spec[p], logits, hard ? Postprocess::kHard : Postprocess::kSoft));
  if (run.forced == nullptr) return predicted;
  return choose_samples(run.tape, predicted, truth.reshaped(predicted.shape), run.forced);
}

// An output is read at a sample's last step only, so its decoder runs there alone.
void Net::decode_outputs(Trajectory& run, const DecoderInputs& in, std::int64_t step) const {
  const std::int64_t begin = run.samples.active(step + 1), end = run.samples.active(step);
  if (begin == end) return;
  const DecoderInputs last = in.slice(begin, end);
  for (std::size_t p = 0; p < run.spec.size(); ++p) {
    if (run.spec[p].stage != Stage::kOutput) continue;
    report(run, p, 0, begin, decode(run, last, p, step, begin));
  }
}

// Loss and predictions of samples begin, begin + 1, ..
void Net::report(Trajectory& run, std::size_t p, std::int64_t frame, std::int64_t begin,
                 Tensor logits) const {
  const bool hint = run.spec[p].stage == Stage::kHint;
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
