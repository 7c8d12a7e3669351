// The network: encode, process, decode, step by step along a trajectory. docs/model.md 2.
//
// A Net has one processor and, for each algorithm that it learns, an encoder and a decoder for each
// hint and output. forward() runs one shard on one tape; after it tape.backward() leaves the
// gradients of the shard's losses. A Net is not changed by forward(): any number of shards may run
// at once.
#pragma once

#include <memory>
#include <vector>

#include "nn/carried_state.h"
#include "nn/decoder.h"
#include "nn/encoder.h"
#include "nn/gumbel_noise.h"
#include "nn/loss.h"
#include "nn/postprocess.h"
#include "nn/predictions.h"
#include "nn/processor.h"
#include "nn/reconstruction.h"

namespace renar {

/// How a predicted hint is fed back: soft, hard, or soft in training and hard in evaluation.
enum class Repred { kSoft, kHard, kHardOnEval };

struct NetOptions {
  ProcessorOptions processor;
  EncoderInit encoder_init = EncoderInit::kXavierOnScalars;
  HintMode hints = HintMode::kEncodedDecoded;
  Repred hint_repred = Repred::kSoft;
  double teacher_forcing = 0;  ///< probability of a sample and step in training to read the truth
  int message_passing_steps = 1;
  ReconstructionOptions reconstruction = {};
  bool lstm = false;        ///< over the processor's hidden', a state for every node
  double dropout = 0;       ///< share of the processor's hidden' that training drops, in [0, 1)
  std::uint64_t seed = 42;  ///< of the initialisation and the noise in training
  ExactAlgebra exact;
};

/// An algorithm to be learnt. Its name begins the names of its encoders' and decoders' parameters.
struct Task {
  std::string algorithm;
  Spec spec;
};

class Net {
 public:
  /// Several algorithms share the processor. Throws renar::Error if there is none or one twice and
  /// for reconstruction of hints that are not read, renar::UsageError for an unknown processor.
  Net(std::vector<Task> tasks, const NetOptions& options);
  Net(const std::string& algorithm, const Spec& spec, const NetOptions& options)
      : Net(std::vector<Task>{{algorithm, spec}}, options) {}

  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  const std::vector<Task>& tasks() const { return tasks_; }
  const Spec& spec(int task = 0) const { return tasks_[static_cast<std::size_t>(task)].spec; }
  /// The processor's parameters and those of the task.
  const ActiveParameters& active(int task) const {
    return heads_[static_cast<std::size_t>(task)].active;
  }
  const NetOptions& options() const { return options_; }
  /// The first so many parameters are those of the processors, which --freeze-processor keeps.
  std::int64_t processor_size() const { return processor_size_; }
  /// Throws renar::Error if it cannot serve graphs of so many nodes.
  void check_nodes(std::int64_t nodes) const { processor_->check_nodes(nodes); }
  /// Counts the divisors of L_rec in a batch; the baseline has none.
  void count_reconstruction(const Batch& batch, const NoiseKey& noise,
                            ReconstructionScales& scales) const;

  /// The numbers that a slot of the carried state has, of each of its tensors.
  std::vector<std::int64_t> carried_widths(int task, std::int64_t nodes) const;

  enum class Pass { kTrain, kEvaluate };
  struct Request {
    Pass pass;
    const LossScales* scales = nullptr;                    ///< wanted losses; null: none
    const ReconstructionScales* reconstruction = nullptr;  ///< wanted of L_rec; null: none
    Losses* losses = nullptr;                              ///< the shard's losses are added
    Predictions* predictions = nullptr;  ///< filled for the shard's samples; null: none
    NoiseKey noise = {};                 ///< of all that is random in training
    CarriedState* carried = nullptr;     ///< between the parts of a trajectory; null: none is
  };
  /// Runs a shard on `tape`, which has been started on this net's parameters with those of the
  /// batch's task active. Throws renar::Error for reconstruction of parts of trajectories, and for
  /// graphs that the processor cannot serve.
  void forward(Tape& tape, const Samples& samples, const Request& request) const;

 private:
  struct State;
  struct Trajectory;
  struct Segment;
  void start(Trajectory& run) const;
  void run_step(Trajectory& run, std::int64_t step) const;
  void end_segment(Trajectory& run, std::int64_t next_step) const;
  void record_again(Trajectory& run, const Segment& segment) const;
  State keep(Trajectory& run) const;
  template <class F>
  void for_each_carried(const Spec& spec, State& state, const F& f) const;
  CarriedTensors carried(const Spec& spec, State state) const;
  void carry_on(Trajectory& run, Tensor hidden, std::int64_t step) const;
  bool recovers(const Trajectory& run, std::size_t probe) const;
  EncodedStep encode(Trajectory& run, std::int64_t step) const;
  Tensor finish_hidden(Trajectory& run, Tensor hidden, std::int64_t step) const;
  Tensor decode(Trajectory& run, const DecoderInputs& in, std::size_t probe, std::int64_t step,
                std::int64_t begin) const;
  void decode_hints(Trajectory& run, const DecoderInputs& of_all, std::int64_t step) const;
  void decode_outputs(Trajectory& run, const DecoderInputs& in, std::int64_t step,
                      std::int64_t begin) const;
  void keep_for_outputs(Trajectory& run, DecoderInputs in, std::int64_t step) const;
  void force_samples(Trajectory& run, std::int64_t step) const;
  void feed_back(Trajectory& run, std::size_t probe, std::int64_t step, Tensor read) const;
  void report(Trajectory& run, std::size_t probe, std::int64_t frame, std::int64_t begin,
              Tensor logits) const;

  /// What belongs to one task alone.
  struct Heads {
    std::unique_ptr<Encoder> encoder;
    std::vector<std::unique_ptr<Decoder>> decoders;  // by probe; null for inputs
    bool outputs_read_edges = false;
    ActiveParameters active;
  };

  std::vector<Task> tasks_;  // encoders and decoders refer to its specs: it never grows
  NetOptions options_;
  Parameters parameters_;
  std::unique_ptr<Processor> processor_;
  std::unique_ptr<Reconstruction> reconstruction_;  // null: the baseline
  std::int64_t processor_size_ = 0;
  Linear lstm_;  // (2H,4H), where there is an LSTM
  std::vector<Heads> heads_;
};

}  // namespace renar
