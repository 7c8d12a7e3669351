#include "trainer/train.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "algos/training_stream.h"
#include "core/check.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/profile.h"
#include "core/text.h"
#include "core/version.h"
#include "nn/hint_masks.h"
#include "trainer/batch_ahead.h"
#include "trainer/checkpoint.h"
#include "trainer/chunk_source.h"
#include "trainer/curves.h"
#include "trainer/initial_parameters.h"
#include "trainer/machine.h"
#include "trainer/metrics.h"
#include "trainer/net_in_training.h"
#include "trainer/profiled_steps.h"
#include "trainer/progress.h"
#include "trainer/run_signal.h"
#include "trainer/sampler_flags.h"
#include "trainer/test_set.h"

namespace renar {
namespace {

constexpr int kEvaluationBatch = 32;

StreamConfig stream_config(const Config& config) {
  return {.order = config.data_stream == "clrs" ? DataOrder::kClrs : DataOrder::kOwn,
          .seed = config.seed,
          .lengths = config.train_lengths,
          .val_length = config.val_length,
          .val_samples = config.val_samples,
          .batch_size = config.batch,
          .pipeline = pipeline_of(config),
          .p = config.p,
          .length_needle = config.length_needle};
}

std::vector<const Algorithm*> algorithms_of(const Config& config) {
  std::vector<const Algorithm*> algorithms;
  for (const std::string& name : config.algo) algorithms.push_back(&find_algorithm(name));
  return algorithms;
}

ReconstructionOptions reconstruction_options(const Config& config) {
  const Method method = config.method == "baseline"       ? Method::kBaseline
                        : config.method == "renar-linear" ? Method::kRenarLinear
                                                          : Method::kRenar;
  return {.method = method,
          .weight = config.rec_weight,
          .masks = {.masking = config.masking == "authors" ? Masking::kAuthors : Masking::kPaper,
                    .ratio = config.mask_ratio,
                    .rounds = config.mask_rounds}};
}

std::unique_ptr<TrainingBatches> source_of(const Config& config, TrainingStream& stream,
                                           const Net& net) {
  if (!config.chunked) return std::make_unique<WholeTrajectories>(stream, net);
  const ChunkState state = config.chunk_state == "reset" ? ChunkState::kReset : ChunkState::kCarry;
  return std::make_unique<ChunkSource>(stream, net, ChunkOptions{config.chunk_length, state});
}

/// The name of a checkpoint's algorithms.
std::string checkpoint_name(const Config& config) { return join(config.algo); }

/// The mean over the algorithms of one number of their test `test`.
double mean_of(const std::vector<AlgorithmResult>& algorithms, std::size_t test,
               double Evaluation::*number) {
  double sum = 0;
  for (const AlgorithmResult& found : algorithms) sum += found.tests[test].*number;
  return sum / static_cast<double>(algorithms.size());
}

/// What a run of M-ReNAR should know of algorithms of which it can hide nothing; empty: of none.
std::string masks_note(const Net& net) {
  const MaskOptions& masks = net.options().reconstruction.masks;
  std::vector<std::string> names;
  for (const Task& task : net.tasks()) {
    if (masks.ratio == 0) continue;
    const HintMasks hidden(task.spec, 1, masks);
    bool recovers = false;
    for (std::size_t p = 0; p < task.spec.size(); ++p) {
      recovers |= task.spec[p].stage == Stage::kHint && !hidden.of(p).empty();
    }
    if (!recovers) names.push_back(task.algorithm);
  }
  if (names.empty()) return "";
  return fmt::format(
      "no hint of {} belongs to nodes, which are what mrenar hides: nothing is recovered{}",
      join(names, ", "),
      masks.masking == Masking::kPaper ? ", and the state is read once and whole" : "");
}

/// The best mean test score of each length, from the lines of --oracle; empty without it.
std::vector<OracleScore> best_tests(const Config& config, const std::string& metrics) {
  std::vector<OracleScore> best;
  if (!config.oracle) return best;
  const bool several = config.algo.size() > 1;
  const std::string algo = several ? kMeanOfAll : config.algo[0];
  best.resize(config.test_lengths.size());
  for (const auto& line : read_metrics(metrics)) {
    if (!line.contains("test_score") || line.value("algo", "") != algo) continue;
    const Json& score = line.at("test_score");
    for (std::size_t i = 0; i < best.size(); ++i) {
      if (line.value("length", -1) != config.test_lengths[i] || !score.is_number()) continue;
      if (score > best[i].score) best[i] = {score, line.at("step")};
    }
  }
  return best;
}

/// Everything that a run holds while it trains.
class Training {
 public:
  Training(const Config& config, const RunDirectory& directory, RunPlan plan,
           std::optional<DirectoryLock> held)
      : config_(config),
        directory_(directory),
        algorithms_(algorithms_of(config)),
        net_(tasks_of(config), net_options(config)),
        machine_(machine_of(config)),
        runner_(machine_.threads, machine_.device, machine_.precision),
        stream_(algorithms_, stream_config(config)),
        source_(source_of(config, stream_, net_)),
        ahead_(*source_) {
    for (std::size_t k = 0; k < algorithms_.size(); ++k) {
      const int task = static_cast<int>(k);
      check_lengths(k);
      validation_.emplace_back(net_.spec(task), stream_.validation(k), kEvaluationBatch, task);
      for (const int length : config.test_lengths) {
        check_length(test_set(k, length), net_, "--test-lengths");
      }
    }
    if (plan == RunPlan::kContinue) {
      state_ = load_state(directory.last(), checkpoint_name(config), net_);
      RENAR_CHECK(state_.step <= config.steps, "[train] {} has done {} steps, more than --steps {}",
                  directory.last(), state_.step, config.steps);
      kept_metrics_ = kept_metrics(directory.metrics(), state_.step);
      naming_file(directory.last(), [&] { source_->restore(state_.stream); });
      check_best();
    } else if (!config.init_from.empty()) {
      init_note_ = load_initial_parameters(config.init_from, net_);
    }
    training_.emplace(net_, runner_,
                      OptimizerOptions{config.lr, config.clip,
                                       config.freeze_processor ? net_.processor_size() : 0},
                      state_.optimizer);
    start_carrying();
    runner_.limit_memory(memory_budget(machine_.device, config.memory_budget));
    lock_.emplace(directory.begin(config, plan, std::move(held)));
  }

  Ending run(RunResult& result) {
    const StopSignals signals;
    Progress progress(progress_on_stderr(
        state_.step, config_.steps, static_cast<int>(config_.train_lengths.size()), config_.quiet));
    if (!train(progress) || !test(progress, result)) return Ending::kStopped;
    result.peak_mib = peak_memory_mib();
    result.data_wait_seconds = ahead_.waited();
    draw_curves(result);
    write_summary(directory_.summary(), result);  // the last: it says that the run is finished
    return Ending::kFinished;
  }

 private:
  /// The best parameters so far, which the tests will need: better missed now than after all steps.
  /// Those of a validation after the checkpoint, by a call that was killed, are not the ones that
  /// the state tells of. Then the best is found anew: as they beat all before them, by them again.
  void check_best() {
    if (state_.best_step < 0) return;
    Net best(tasks_of(config_), net_options(config_));
    const int step = load_parameters(directory_.best(), checkpoint_name(config_), best);
    if (step == state_.best_step + 1) return;
    state_.best_score = TrainState().best_score;
    state_.best_step = TrainState().best_step;
  }

  /// Throws renar::UsageError if the net cannot serve a length of training or validation.
  void check_lengths(std::size_t k) const {
    const auto check = [&](int length, std::string_view flag) {
      const SamplerParams& params = stream_.params(k);
      check_length({algorithms_[k], pipeline_of(config_), length, 1, 0, params}, net_, flag);
    };
    for (const int length : training_lengths(*algorithms_[k], config_.train_lengths)) {
      check(length, "--train-lengths");
    }
    if (config_.val_length > 0) check(config_.val_length, "--val-length");
  }

  /// All steps that are left; false where a signal came.
  bool train(Progress& progress) {
    MetricsWriter metrics(directory_.metrics(), kept_metrics_);
    kept_metrics_ = {};
    for (const std::string& note :
         {machine_.note, init_note_, masks_note(net_),
          foreign_sampler_flag(algorithms_, !config_.p.empty(),
                               config_.length_needle != Config().length_needle)}) {
      if (!note.empty()) progress.note(note);
    }
    ProfiledSteps profiled(config_, machine_, directory_, state_.step);
    while (state_.step < config_.steps) {
      profiled.before(state_.step);
      const bool last = state_.step + 1 == config_.steps;
      const bool validates = last || state_.step % config_.eval_every == 0;
      step(metrics, progress, validates);
      if (validates) {
        const double start = seconds_now();
        validate(metrics, progress);
        if (config_.oracle) ask_oracle(metrics);
        state_.validation_seconds += seconds_now() - start;
      }
      profiled.after(state_.step);
      const bool stops = stop_requested() && !last;
      if (stops || last || state_.step % config_.checkpoint_every == 0) {
        metrics.sync();  // before the checkpoint, which must not be ahead of it
        save();
      }
      if (stops) return false;
    }
    return true;
  }

  /// A state for each lane, from the checkpoint if there is one.
  void start_carrying() {
    if (!config_.chunked || config_.chunk_state == "reset") return;
    std::size_t lanes = 0;
    for (std::size_t k = 0; k < algorithms_.size(); ++k) lanes += stream_.lengths(k);
    state_.carried.resize(lanes);
    for (const std::vector<Real>& values : state_.carried) {
      carried_.emplace_back(values, machine_.device);
    }
  }

  /// One update for each algorithm.
  void step(MetricsWriter& metrics, Progress& progress, bool validates) {
    const ProfileRange range("step");
    double sum = 0;
    for (std::size_t k = 0; k < algorithms_.size(); ++k) {
      const double start = seconds_now();
      const Batch& batch = ahead_.take();
      // In the clrs order the draws of an evaluation come before the next batch.
      const bool evaluation_first = validates && k + 1 == algorithms_.size();
      if (!evaluation_first || config_.data_stream != "clrs") ahead_.start();
      sum += update(batch, *algorithms_[k], start, metrics);
    }
    ++state_.step;
    progress.step(state_.step, sum / static_cast<double>(algorithms_.size()));
  }

  double update(const Batch& batch, const Algorithm& algorithm, double start,
                MetricsWriter& metrics) {
    const Spec& spec = *batch.spec;
    CarriedState* carried =
        carried_.empty() ? nullptr : &carried_[static_cast<std::size_t>(batch.lane)];
    const Losses losses = training_->update(batch, {.update = training_->updates()}, carried);
    const double loss = total(losses);
    RENAR_CHECK(std::isfinite(loss), "the loss of step {} is {} ({}): {}", state_.step, loss,
                algorithm.name, advice());
    const double seconds = seconds_now() - start;
    Json line = {
        {"step", state_.step}, {"algo", algorithm.name}, {"nodes", batch.nodes}, {"loss", loss}};
    double outputs = 0;
    for (std::size_t p = 0; p < spec.size(); ++p) {
      if (spec[p].stage == Stage::kOutput) outputs += losses[p];
    }
    line["output_loss"] = outputs;
    for (std::size_t p = 0; p < spec.size(); ++p) {
      if (spec[p].stage != Stage::kHint || !predicts_hints(net_.options().hints)) continue;
      line["hint_loss." + spec[p].name] = losses[p];
    }
    if (config_.method != "baseline") line["rec_loss"] = losses.reconstruction;
    line["seconds"] = seconds;
    metrics.write(line);
    state_.seconds += seconds;
    return loss;
  }

  void validate(MetricsWriter& metrics, Progress& progress) {
    const ProfileRange range("validation");
    double sum = 0;
    for (std::size_t k = 0; k < algorithms_.size(); ++k) {
      const Evaluation found = validation_[k].score(training_->placed(), runner_);
      Json line = {
          {"step", state_.step - 1}, {"algo", algorithms_[k]->name}, {"val_score", found.score}};
      for (const OutputScore& output : found.outputs) line["val." + output.name] = output.score;
      metrics.write(line);
      sum += found.score;
    }
    stream_.note_evaluation();
    const double score = sum / static_cast<double>(algorithms_.size());
    if (algorithms_.size() > 1) {
      metrics.write({{"step", state_.step - 1}, {"algo", kMeanOfAll}, {"val_score", score}});
    }
    progress.validation(score);
    if (!(score > state_.best_score)) return;  // a score that is no number is never the best
    state_.best_score = score;
    state_.best_step = state_.step - 1;
    training_->fetch();
    save_parameters(directory_.best(), checkpoint_name(config_), net_, state_.step);
  }

  /// The test scores of the parameters as they are, for the record: nothing is chosen by them.
  void ask_oracle(MetricsWriter& metrics) {
    for (const int length : config_.test_lengths) {
      double sum = 0;
      for (std::size_t k = 0; k < algorithms_.size(); ++k) {
        const Evaluation found =
            *test_of(training_->placed(), k, test_set(k, length), [](int) { return true; });
        Json line = {{"step", state_.step - 1},
                     {"algo", algorithms_[k]->name},
                     {"length", length},
                     {"test_score", found.score}};
        for (const OutputScore& output : found.outputs) line["test." + output.name] = output.score;
        metrics.write(line);
        sum += found.score;
      }
      if (algorithms_.size() == 1) continue;
      metrics.write({{"step", state_.step - 1},
                     {"algo", kMeanOfAll},
                     {"length", length},
                     {"test_score", sum / static_cast<double>(algorithms_.size())}});
    }
  }

  void save() {
    const ProfileRange range("checkpoint");
    state_.optimizer = training_->fetch();
    check_finite();
    state_.stream = ahead_.state();
    state_.carried.clear();
    for (const CarriedState& carried : carried_) state_.carried.push_back(carried.values());
    save_state(directory_.last(), checkpoint_name(config_), net_, state_);
  }

  /// Parameters and moments: a state that can only fail is no state to go on from.
  void check_finite() const {
    const auto is_finite = [](Real x) { return std::isfinite(x); };
    const Real* values = net_.parameters().values();
    const auto& [steps, m, v] = state_.optimizer;
    RENAR_CHECK(std::all_of(values, values + net_.parameters().size(), is_finite) &&
                    std::all_of(m.begin(), m.end(), is_finite) &&
                    std::all_of(v.begin(), v.end(), is_finite),
                "after step {} parameters or their moments are not finite: {}", state_.step - 1,
                advice());
  }

  std::string advice() const {
    std::error_code none;
    const bool saved = std::filesystem::exists(directory_.last(), none);
    // Going on with the same settings would come to the same end.
    return "training stopped; a smaller --lr may help, from the beginning" +
           (saved ? fmt::format(" or, in another --out, with --init-from {}",
                                shell_quoted(directory_.last()))
                  : "");
  }

  /// Scores the best parameters, which take the place of those in training; false where a signal
  /// came.
  bool test(Progress& progress, RunResult& result) {
    result = {{},
              config_.method,
              config_.processor,
              config_.seed,
              config_.steps,
              state_.seconds,
              state_.best_score,
              state_.best_step,
              text_of(machine_),
              0,
              0,
              state_.validation_seconds};
    training_.reset();
    load_parameters(directory_.best(), checkpoint_name(config_), net_);
    const PlacedNet best(net_, machine_.device);
    for (std::size_t k = 0; k < algorithms_.size(); ++k) {
      AlgorithmResult& found = result.algorithms.emplace_back();
      found.algo = algorithms_[k]->name;
      found.val_nodes = validation_[k].nodes();
      found.val_score = validation_[k].score(best, runner_).score;
      for (const int length : config_.test_lengths) {
        const TestSet set = test_set(k, length);
        const auto go_on = [&](int done) {
          progress.test(found.algo, length, done, set.samples);
          return !stop_requested();
        };
        const std::optional<Evaluation> score = test_of(best, k, set, go_on);
        if (!score) return false;
        found.tests.push_back(*score);
      }
    }
    result.oracle = best_tests(config_, directory_.metrics());
    return true;
  }

  TestSet test_set(std::size_t k, int length) const {
    return clrs30_set(*algorithms_[k], pipeline_of(config_), Split::kTest, length,
                      config_.test_samples);
  }

  std::optional<Evaluation> test_of(const PlacedNet& net, std::size_t k, const TestSet& set,
                                    const GoOn& go_on) {
    return evaluate(net, static_cast<int>(k), set, runner_, Predictions::Hints::kNone, go_on);
  }

  void draw_curves(const RunResult& result) const {
    Curves curves = read_curves(directory_.metrics());
    curves.title = title_of(result);
    curves.val_length = result.algorithms.size() == 1 ? result.algorithms[0].val_nodes : 0;
    for (std::size_t i = 0; i < config_.test_lengths.size(); ++i) {
      curves.tests.push_back({config_.test_lengths[i], result.score(i)});
    }
    write_curves(directory_.curves(), curves);
  }

  const Config& config_;
  const RunDirectory& directory_;
  std::vector<const Algorithm*> algorithms_;
  Net net_;
  std::optional<DirectoryLock> lock_;
  Machine machine_;
  ShardRunner runner_;
  TrainingStream stream_;
  std::unique_ptr<TrainingBatches> source_;
  BatchAhead ahead_;
  std::vector<CarriedState> carried_;      // of chunks, by lane
  std::vector<EvaluationSet> validation_;  // one an algorithm
  std::optional<NetInTraining> training_;  // owns the parameters of net_ until the test
  TrainState state_;
  std::string kept_metrics_;  // of the steps before, until they are written
  std::string init_note_;     // what --init-from has loaded
};

}  // namespace

double RunResult::score(std::size_t test) const {
  return mean_of(algorithms, test, &Evaluation::score);
}

Pipeline pipeline_of(const Config& config) {
  return {.random_positions = !config.no_random_pos,
          .pred_as_input = !config.no_pred_as_input,
          .permutations = !config.no_permutations};
}

double RunResult::trivial(std::size_t test) const {
  return mean_of(algorithms, test, &Evaluation::trivial);
}

std::vector<Task> tasks_of(const Config& config) {
  std::vector<Task> tasks;
  for (const Algorithm* algorithm : algorithms_of(config)) {
    tasks.push_back({algorithm->name, spec_after(pipeline_of(config), *algorithm)});
  }
  return tasks;
}

NetOptions net_options(const Config& config) {
  NetOptions options;
  options.processor = {.kind = config.processor,
                       .hidden = config.hidden,
                       .triplet_fts = config.triplet_fts,
                       .layer_norm = !config.no_ln,
                       .heads = config.heads};
  options.encoder_init =
      config.encoder_init == "default" ? EncoderInit::kDefault : EncoderInit::kXavierOnScalars;
  options.hints = config.hint_mode == "encoded_decoded" ? HintMode::kEncodedDecoded
                  : config.hint_mode == "decoded_only"  ? HintMode::kDecodedOnly
                                                        : HintMode::kNone;
  options.hint_repred = config.hint_repred_mode == "soft"   ? Repred::kSoft
                        : config.hint_repred_mode == "hard" ? Repred::kHard
                                                            : Repred::kHardOnEval;
  options.teacher_forcing = config.hint_teacher_forcing;
  options.message_passing_steps = config.nb_msg_passing_steps;
  options.reconstruction = reconstruction_options(config);
  options.lstm = config.lstm;
  options.dropout = config.dropout;
  options.seed = config.seed;
  return options;
}

Ending train(const Config& config, const RunDirectory& directory, RunPlan plan, RunResult& result,
             std::optional<DirectoryLock> held) {
  forget_peak_memory();  // of the runs of a sweep before
  return Training(config, directory, plan, std::move(held)).run(result);
}

}  // namespace renar
