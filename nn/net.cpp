#include "nn/net.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/profile.h"
#include "kernels/accumulate.h"
#include "kernels/carry.h"
#include "kernels/choose_samples.h"
#include "kernels/copy_numbers.h"
#include "kernels/dropout.h"
#include "kernels/keep_last.h"
#include "kernels/linear.h"
#include "kernels/lstm_cell.h"
#include "nn/step_marks.h"
#include "nn/teacher_forcing.h"

namespace renar {

/// What goes from one time step to the next, as it stands between two.
struct Net::State {
  ProbeTensors probes{};     // inputs, and the hints that the next step reads
  ProbeTensors edge_rows{};  // those hints that are edge pointers, whole, if they are recovered
  Tensor hidden{};           // (B,N,H)
  Tensor cell{};             // (B,N,H) of the LSTM; absent without one
  const std::uint8_t* forced = nullptr;  // (B) who reads the truth in the next step
};

/// One shard on its way along the time steps. It lives on the tape, as backward may need it.
struct Net::Trajectory {
  Trajectory(const Net& net, Tape& on, const Samples& of, const Request& wanted)
      : tape(on),
        samples(of),
        request(wanted),
        heads(net.heads_[static_cast<std::size_t>(of.batch().task)]),
        spec(net.spec(of.batch().task)),
        composer(on, net.options_.exact),
        encoders(heads.encoder->stack_encoders(on)),
        losses(on, samples, net.options_.hints, wanted.scales, wanted.losses),
        marks(on, samples),
        reconstruction(sent(on, wanted.reconstruction)) {}

  /// Null where L_rec is not wanted.
  static const LossScales* sent(Tape& tape, const ReconstructionScales* scales) {
    if (scales == nullptr || scales->empty()) return nullptr;
    const std::vector<LossScales>& all = scales->all();
    return send_scales(tape, all.data(), static_cast<std::int64_t>(all.size()));
  }

  Tape& tape;
  Samples samples;
  Request request;
  const Heads& heads;
  const Spec& spec;
  Composer composer;
  Encoder::Stacked encoders;
  ShardLosses losses;
  StepMarks marks;
  const LossScales* reconstruction;  // of each round, where the tape's device is
  State state;
  DecoderInputs held;  // of samples whose lengths are rounded: each one's last step (B,..)
  State segment_start;
  std::int64_t segment_step = 0;  // the first of the segment

  bool training() const { return request.pass == Pass::kTrain; }
};

/// Steps [begin, end) that are forgotten.
struct Net::Segment {
  std::int64_t begin, end;
  State from, to;  // `to` has the gradients that later steps gave it
};

Net::Net(std::vector<Task> tasks, const NetOptions& options)
    : tasks_(std::move(tasks)), options_(options) {
  RENAR_CHECK(!tasks_.empty(), "[net] {} algorithms, expected at least one", tasks_.size());
  const Builder builder{parameters_, options.seed};
  processor_ = make_processor(builder, options.processor);
  const std::int64_t hidden = options.processor.hidden;
  if (options.reconstruction.method == Method::kRenarLinear) {
    options_.reconstruction.masks.ratio = 0;  // without a GNN nothing could fill in what is hidden
    options_.reconstruction.masks.rounds = 0;
  }
  if (options.reconstruction.method != Method::kBaseline) {
    RENAR_CHECK(reads_hints(options.hints),
                "[net] reconstruction recovers the hints that are read: it needs the hint mode "
                "encoded_decoded");
    reconstruction_ =
        std::make_unique<Reconstruction>(builder, options.processor, options_.reconstruction);
  }
  processor_size_ = parameters_.size();
  if (reconstruction_) reconstruction_->add_gates(builder);
  if (options.lstm) lstm_ = make_linear(builder, "lstm", 2 * hidden, 4 * hidden);
  const std::int64_t shared = parameters_.size();
  for (const Task& task : tasks_) {
    Heads& heads = heads_.emplace_back();
    const std::int64_t begin = parameters_.size();
    heads.encoder = std::make_unique<Encoder>(builder, task.algorithm, task.spec, hidden,
                                              options.encoder_init, options.hints);
    for (const Probe& probe : task.spec) {
      const bool predicted = probe.stage == Stage::kOutput ||
                             (probe.stage == Stage::kHint && predicts_hints(options.hints));
      const DecoderReads reads{.edge = processor_->makes_edges() ? 2 : 1};
      heads.decoders.push_back(
          predicted
              ? std::make_unique<Decoder>(builder, task.algorithm + "/decode", probe, hidden, reads)
              : nullptr);
      if (probe.stage == Stage::kOutput && heads.decoders.back()->reads_edges()) {
        heads.outputs_read_edges = true;
      }
    }
    if (reconstruction_) reconstruction_->add_task(builder, task.algorithm, task.spec);
    heads.active = {shared, begin, parameters_.size()};
  }
}

void Net::forward(Tape& tape, const Samples& samples, const Request& request) const {
  Trajectory& run = *new (tape.host_array<Trajectory>(1)) Trajectory(*this, tape, samples, request);
  start(run);
  tape.begin_segments();
  run.segment_start = run.state;
  for (std::int64_t step = 0; step < samples.steps(); ++step) {
    if (step > 0 && tape.is_full()) end_segment(run, step);
    run_step(run, step);
  }
  if (samples.rounded()) {
    tape.begin_step();
    decode_outputs(run, run.held, samples.steps(), 0);
    tape.end_step();
  }
  tape.fetch_all();
}

void Net::run_step(Trajectory& run, std::int64_t step) const {
  Tape& tape = run.tape;
  State& state = run.state;
  tape.begin_step();
  const std::int64_t active = run.samples.active(step);  // finished samples have dropped out
  state.hidden = state.hidden.first(active);
  if (options_.lstm) state.cell = state.cell.first(active);
  const EncodedStep encoded = encode(run, step);
  ProcessorOutputs next = pass_messages(*processor_, tape, run.composer, encoded, state.hidden,
                                        options_.message_passing_steps);
  next.hidden = finish_hidden(run, next.hidden, step);
  const DecoderInputs in{encoded, state.hidden, next.hidden, next.edge,
                         processor_->masks_non_edges()};
  // An output is read at a trajectory's last step only, so its decoder runs there alone: step
  // T - 2, whose hints are compared with frame T - 1, as the reference's chunks have it at is_last.
  // Whose last step it is differs from batch to batch where rounded lengths do not, and neither
  // should launches: what the decoders read is kept, and they run once, when all samples are over.
  const std::int64_t begin = run.samples.going_on(step);
  if (!run.samples.rounded() && begin < active) {
    decode_outputs(run, in.slice(begin, active), step, begin);
  }
  decode_hints(run, in, step);
  // Behind the hints' decoders, so that backward meets it first: the last that the edges' gradient
  // gets is then a product, at whose end relu's backward happens.
  if (run.samples.rounded()) keep_for_outputs(run, in, step);
  carry_on(run, next.hidden, step);
  tape.end_step();
}

// The steps before `next_step` have filled the tape's budget.
void Net::end_segment(Trajectory& run, std::int64_t next_step) const {
  const ProfileRange range("recompute");
  const Segment segment{run.segment_step, next_step, run.segment_start, keep(run)};
  run.tape.end_segment([this, segment, &run] { record_again(run, segment); });
  run.state = run.segment_start = segment.to;
  run.segment_step = next_step;
}

// In backward: the later steps' gradients have reached segment.to.
void Net::record_again(Trajectory& run, const Segment& segment) const {
  run.state = segment.from;
  run.request.predictions = nullptr;
  run.request.carried = nullptr;
  run.losses.stop_adding();
  for (std::int64_t step = segment.begin; step < segment.end; ++step) run_step(run, step);
  const CarriedTensors made = carried(run.spec, run.state), wanted = carried(run.spec, segment.to);
  for (std::size_t i = 0; i < made.count; ++i) {
    const Tensor& x = made.tensors[i];
    if (x.has_grad()) accumulate(run.tape.device(), x.size(), wanted.tensors[i].grad, x.grad);
  }
}

// A copy of the state that outlives the segment, with gradients of its own.
Net::State Net::keep(Trajectory& run) const {
  Tape& tape = run.tape;
  const Tape::OfTrajectory lasting(tape);
  State kept = run.state;
  const auto copy = [&](Tensor& x) {
    const Tensor from = x;
    x = tape.output(from.shape, from.has_grad());
    copy_numbers(tape.device(), x.size(), from.data, x.data);
  };
  for_each_carried(run.spec, kept, copy);
  if (kept.forced != nullptr) {
    const std::int64_t count = kept.hidden.dim(0);
    std::uint8_t* forced = tape.array<std::uint8_t>(count);
    queue_copy(tape.device(), forced, kept.forced, static_cast<std::size_t>(count));
    kept.forced = forced;
  }
  return kept;
}

// What step 0 reads: the true hints of frame 0 and zeros or, where a part of a trajectory goes on,
// what its last part has left.
void Net::start(Trajectory& run) const {
  const ProfileRange range("start");
  const Samples& samples = run.samples;
  for (std::size_t p = 0; p < run.spec.size(); ++p) {
    if (run.spec[p].stage != Stage::kOutput) run.state.probes[p] = samples.features(run.tape, p, 0);
    if (recovers(run, p)) run.state.edge_rows[p] = samples.one_hot(run.tape, p, 0);
  }
  const auto zeros = [&] {
    const std::int64_t size = samples.size(), hidden = options_.processor.hidden;
    const Tensor x = run.tape.constant({size, samples.nodes(), hidden});  // (B,N,H)
    fill_bytes(run.tape.device(), x.data, 0, static_cast<std::size_t>(x.size()) * sizeof(Real));
    return x;
  };
  run.state.hidden = zeros();
  if (options_.lstm) run.state.cell = zeros();
  if (samples.batch().parts.empty()) return;
  RENAR_CHECK(!reconstruction_,
              "[net] a batch of {} parts of trajectories: reconstruction needs whole ones",
              samples.batch().size);
  if (run.request.carried == nullptr) return;
  run.request.carried->take_up(run.tape, samples, carried(run.spec, run.state));
}

template <class F>
void Net::for_each_carried(const Spec& spec, State& state, const F& f) const {
  f(state.hidden);
  if (state.cell) f(state.cell);
  for (std::size_t p = 0; p < spec.size(); ++p) {
    if (spec[p].stage != Stage::kHint || !reads_hints(options_.hints)) continue;
    f(state.probes[p]);
    if (state.edge_rows[p]) f(state.edge_rows[p]);
  }
}

CarriedTensors Net::carried(const Spec& spec, State state) const {
  CarriedTensors tensors;
  for_each_carried(spec, state, [&](const Tensor& x) { tensors.add(x); });
  return tensors;
}

std::vector<std::int64_t> Net::carried_widths(int task, std::int64_t nodes) const {
  std::vector<std::int64_t> widths(options_.lstm ? 2 : 1, nodes * options_.processor.hidden);
  for (const Probe& probe : spec(task)) {
    if (probe.stage != Stage::kHint || !reads_hints(options_.hints)) continue;
    widths.push_back(read_size(probe, nodes));
  }
  return widths;
}

// What the next step reads; parts of trajectories that stop here leave it for the next chunk.
void Net::carry_on(Trajectory& run, Tensor hidden, std::int64_t step) const {
  const ProfileRange range("carry");
  run.state.hidden = carry(run.tape, hidden);
  const std::int64_t begin = run.samples.active(step + 1), end = run.samples.going_on(step);
  if (begin == end || run.request.carried == nullptr) return;
  run.request.carried->put_down(run.tape, run.samples, begin, end, carried(run.spec, run.state));
}

// Whether an edge pointer is needed whole, and not only as the means that the encoder reads.
bool Net::recovers(const Trajectory& run, std::size_t p) const {
  return reconstruction_ && run.training() && run.spec[p].stage == Stage::kHint &&
         is_edge_pointer(run.spec[p]);
}

EncodedStep Net::encode(Trajectory& run, std::int64_t step) const {
  const Encoder& encoder = *run.heads.encoder;
  const EncodedStep encoded =
      encoder.encode(run.tape, run.encoders, run.state.probes, run.state.hidden.dim(0),
                     run.samples.nodes(), processor_->reads_adjacency());
  if (!reconstruction_) return encoded;
  const Reconstruction::State state{
      encoder,          run.encoders, run.state.probes, run.state.edge_rows, encoded,
      run.state.hidden, step,         run.state.forced};
  const Reconstruction::Training training{.noise = run.request.noise,
                                          .seed = options_.seed,
                                          .soft = options_.hint_repred != Repred::kHard,
                                          .scales = run.reconstruction,
                                          .loss = run.losses.reconstruction(),
                                          .counted = run.marks.compared(step)};
  return reconstruction_->enrich(run.tape, run.composer, run.samples, state,
                                 options_.message_passing_steps,
                                 run.training() ? &training : nullptr);
}

void Net::count_reconstruction(const Batch& batch, const NoiseKey& noise,
                               ReconstructionScales& scales) const {
  if (!reconstruction_) return scales.clear();
  scales.count(batch, options_.reconstruction.masks, options_.reconstruction.weight,
               {.teacher_forcing = options_.teacher_forcing,
                .soft = options_.hint_repred != Repred::kHard,
                .seed = options_.seed},
               noise);
}

// What the processor's hidden' is for the decoders and the next step: after dropout and the LSTM.
Tensor Net::finish_hidden(Trajectory& run, Tensor hidden, std::int64_t step) const {
  Tape& tape = run.tape;
  if (run.training()) {
    hidden = dropout(tape, hidden, options_.dropout,
                     {.seed = options_.seed,
                      .update = static_cast<std::uint32_t>(run.request.noise.update),
                      .step = static_cast<std::uint32_t>(step),
                      .samples = run.samples.places()});
  }
  if (!options_.lstm) return hidden;
  const ProfileRange range("lstm");
  // What it made of the last step is its own hidden state, too: only its cell is carried beside.
  const std::int64_t h = hidden.cols();
  const Tensor w = tape.use(lstm_.w);  // (2H,4H)
  const Tensor gates = linear(tape, {{hidden, w.first(h)}, {run.state.hidden, w.slice(h, 2 * h)}},
                              {tape.use(lstm_.b)});
  const LstmState state = lstm_cell(tape, gates, run.state.cell);
  run.state.cell = carry(tape, state.cell);
  return state.hidden;
}

// Logits of samples begin, begin + 1, .. in this step.
Tensor Net::decode(Trajectory& run, const DecoderInputs& in, std::size_t p, std::int64_t step,
                   std::int64_t begin) const {
  const bool hint = run.spec[p].stage == Stage::kHint;
  const ProfileRange range(hint ? "decode hints" : "decode outputs");
  const bool noisy = run.training() && run.spec[p].type == Type::kPermutationPointer;
  const Tensor noise = noisy ? gumbel_noise(run.tape, options_.seed, run.request.noise, run.samples,
                                            p, step, begin, in.hidden.dim(0))
                             : Tensor{};
  return run.heads.decoders[p]->decode(run.tape, run.composer, in, noise);
}

// The prediction of step t is the truth of frame t + 1, and what step t + 1 reads. All hints are
// decoded, then compared, then fed back: a device does what is alike of several at once.
void Net::decode_hints(Trajectory& run, const DecoderInputs& of_all, std::int64_t step) const {
  if (!predicts_hints(options_.hints)) return;
  force_samples(run, step);
  // Where nobody else asks what was predicted, only those that go on need it.
  const std::int64_t fed_back = reads_hints(options_.hints) ? run.samples.going_on(step) : 0;
  const bool asked = run.request.scales != nullptr ||
                     (run.request.predictions != nullptr &&
                      run.request.predictions->hints != Predictions::Hints::kNone);
  if (!asked && fed_back == 0) return;
  const DecoderInputs in = asked ? of_all : of_all.slice(0, fed_back);
  ProbeTensors logits{}, read{};
  for (std::size_t p = 0; p < run.spec.size(); ++p) {
    if (run.spec[p].stage == Stage::kHint) logits[p] = decode(run, in, p, step, 0);
  }
  for (std::size_t p = 0; p < run.spec.size(); ++p) {
    if (logits[p] && asked) report(run, p, step + 1, 0, logits[p]);
  }
  if (fed_back == 0) return;
  const bool hard = options_.hint_repred == Repred::kHard ||
                    (options_.hint_repred == Repred::kHardOnEval && !run.training());
  const Postprocess mode = hard ? Postprocess::kHard : Postprocess::kSoft;
  for (std::size_t p = 0; p < run.spec.size(); ++p) {
    if (logits[p]) read[p] = postprocess(run.tape, run.spec[p], logits[p], mode);
  }
  for (std::size_t p = 0; p < run.spec.size(); ++p) {
    if (read[p]) feed_back(run, p, step, read[p]);
  }
}

// Teacher forcing tosses a coin for each sample.
void Net::force_samples(Trajectory& run, std::int64_t step) const {
  const std::int64_t active = run.samples.active(step);
  if (!run.training() || options_.teacher_forcing <= 0) return;
  std::uint8_t* forced = run.tape.host_array<std::uint8_t>(active);
  for (std::int64_t k = 0; k < active; ++k) {
    ForcingCoins coins(options_.seed, run.request.noise, run.samples.index(k));
    forced[k] = coins.toss(step, options_.teacher_forcing) ? 1 : 0;
  }
  run.state.forced = run.tape.send(forced, active);
}

// What step + 1 reads: the prediction `read` or, where the teacher forces a sample, the truth.
void Net::feed_back(Trajectory& run, std::size_t p, std::int64_t step, Tensor read) const {
  const ProfileRange range("feed back");
  Tape& tape = run.tape;
  const Probe& probe = run.spec[p];
  if (run.state.forced != nullptr) {
    const Tensor truth = is_edge_pointer(probe) ? run.samples.one_hot(tape, p, step + 1)
                                                : run.samples.features(tape, p, step + 1);
    read =
        choose_samples(tape, read, truth.first(read.dim(0)).reshaped(read.shape), run.state.forced);
  }
  if (recovers(run, p)) run.state.edge_rows[p] = carry(tape, read);
  run.state.probes[p] = carry(tape, read_form(tape, probe, read));
}

// `in` is the last step of samples begin, begin + 1, ..
void Net::decode_outputs(Trajectory& run, const DecoderInputs& in, std::int64_t step,
                         std::int64_t begin) const {
  for (std::size_t p = 0; p < run.spec.size(); ++p) {
    if (run.spec[p].stage != Stage::kOutput) continue;
    report(run, p, 0, begin, decode(run, in, p, step, begin));
  }
}

// Keeps what the outputs' decoders read of the samples whose last step this is. A step that is
// recorded again keeps the same once more, and finds the gradients of what is held.
void Net::keep_for_outputs(Trajectory& run, DecoderInputs in, std::int64_t step) const {
  const ProfileRange range("keep for outputs");
  in.encoded.graph_on_nodes = {};
  if (!run.heads.outputs_read_edges) in.encoded.edge.raw = in.next_edge = {};
  if (!run.heads.outputs_read_edges || !in.masks_non_edges) in.encoded.adj = {};
  if (!run.held.hidden) {
    const Tape::OfTrajectory lasting(run.tape);
    run.held = in;
    for (Tensor* x : run.held.tensors()) {
      Shape shape = x->shape;
      shape.extent[0] = run.samples.size();
      if (*x) *x = run.tape.output(shape, x != &run.held.encoded.adj);
    }
  }
  Keepings keepings;
  const auto from = in.tensors(), to = run.held.tensors();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (*from[i]) keepings.add({*from[i], *to[i]});
  }
  keep_last(run.tape, keepings, run.marks.last(step));
}

// Loss and predictions of samples begin, begin + 1, ..
void Net::report(Trajectory& run, std::size_t p, std::int64_t frame, std::int64_t begin,
                 Tensor logits) const {
  const ProfileRange range("losses");
  const bool hint = run.spec[p].stage == Stage::kHint;
  const std::int64_t counted = hint ? run.samples.compared(frame - 1) : logits.dim(0);
  if (counted > 0) run.losses.add(p, frame, begin, logits.first(counted));
  Predictions* predictions = run.request.predictions;
  if (predictions == nullptr || !predictions->wants(run.spec[p])) return;
  const std::int64_t count = logits.dim(0), each = logits.size() / count;
  run.tape.fetch_later(logits.data, logits.size(), [=, &run](const Real* numbers) {
    for (std::int64_t k = 0; k < count; ++k) {
      if (hint && run.samples.last_step(begin + k) < frame - 1) break;  // a rounded length goes on
      predictions->put(run.samples.batch(), p, hint ? frame - 1 : 0, run.samples.index(begin + k),
                       numbers + k * each);
    }
  });
}

}  // namespace renar
