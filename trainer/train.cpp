#include "trainer/train.h"

#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "algos/dataset.h"
#include "algos/training_stream.h"
#include "core/check.h"
#include "core/parallel.h"
#include "core/version.h"
#include "trainer/batch.h"
#include "trainer/checkpoint.h"
#include "trainer/curves.h"
#include "trainer/metrics.h"
#include "trainer/optimizer.h"
#include "trainer/progress.h"
#include "trainer/run_signal.h"

namespace renar {
namespace {

/// Samples evaluated between two looks at Ctrl-C.
constexpr int kEvaluationBatch = 32;
constexpr int kTestBatch = 8;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

SamplerParams training_params(const Config& config, const Algorithm& algorithm) {
  SamplerParams params = algorithm.training;
  if (!config.p.empty()) params.p = config.p;
  return params;
}

StreamConfig stream_config(const Config& config, const Algorithm& algorithm) {
  return {.order = config.data_stream == "clrs" ? DataOrder::kClrs : DataOrder::kOwn,
          .seed = config.seed,
          .lengths = config.train_lengths,
          .val_length = config.val_length,
          .batch_size = config.batch,
          .random_positions = !config.no_random_pos,
          .params = training_params(config, algorithm)};
}

std::string device_text(int threads) {
  return fmt::format("{}, {}, {} thread{}", cpu_model(), instruction_set(), threads,
                     threads == 1 ? "" : "s");
}

/// Everything that a run holds while it trains.
class Training {
 public:
  Training(const Config& config, const RunDirectory& directory, RunPlan plan)
      : config_(config),
        directory_(directory),
        algorithm_(find_algorithm(config.algo)),
        net_(config.algo, algorithm_.spec(), net_options(config)),
        runner_(threads_of(config)),
        stream_(algorithm_, stream_config(config, algorithm_)),
        validation_(net_.spec(), stream_.validation(), kEvaluationBatch),
        optimizer_(net_.parameters().size(), config.lr, config.clip) {
    if (plan == RunPlan::kContinue) {
      state_ = load_state(directory.last(), config.algo, net_);
      optimizer_.restore(state_.optimizer);
      stream_.restore(state_.stream);
    }
    directory.begin(config, plan);
  }

  Ending run(RunResult& result) {
    const StopSignals signals;
    {
      MetricsWriter metrics(directory_.metrics(), state_.step);
      Progress progress(progress_on_stderr(state_.step, config_.steps, config_.quiet));
      while (state_.step < config_.steps) {
        step(metrics, progress);
        const bool last = state_.step == config_.steps;
        if (last || (state_.step - 1) % config_.eval_every == 0) validate(metrics, progress);
        if (stop_requested() && !last) return save(), Ending::kStopped;
        if (last || state_.step % config_.checkpoint_every == 0) save();
      }
      progress.finish();
    }
    if (!test(result)) return Ending::kStopped;
    write_summary(directory_.summary(), result);
    draw_curves(result);
    return Ending::kFinished;
  }

 private:
  void step(MetricsWriter& metrics, Progress& progress) {
    const double start = now();
    fill_batch(net_.spec(), stream_.next(), batch_);
    const Losses losses = runner_.gradients(net_, batch_, grads_);
    const double loss = total(losses);
    RENAR_CHECK(
        std::isfinite(loss),
        "the loss of step {} is {}: training stopped; {} holds the last checkpoint, a smaller "
        "--lr may help",
        state_.step, loss, directory_.path());
    optimizer_.update(net_.parameters(), grads_);
    const double seconds = now() - start;
    nlohmann::ordered_json line = {
        {"step", state_.step}, {"algo", config_.algo}, {"nodes", batch_.nodes}, {"loss", loss}};
    double outputs = 0;
    for (std::size_t p = 0; p < net_.spec().size(); ++p) {
      if (net_.spec()[p].stage == Stage::kOutput) outputs += losses[p];
    }
    line["output_loss"] = outputs;
    for (std::size_t p = 0; p < net_.spec().size(); ++p) {
      const Probe& probe = net_.spec()[p];
      if (probe.stage == Stage::kHint) line["hint_loss." + probe.name] = losses[p];
    }
    line["seconds"] = seconds;
    metrics.write(line);
    state_.seconds += seconds;
    ++state_.step;
    progress.step(state_.step, loss);
  }

  void validate(MetricsWriter& metrics, Progress& progress) {
    const Evaluation found = *validation_.score(net_, runner_, [] { return true; });
    stream_.note_evaluation();
    nlohmann::ordered_json line = {
        {"step", state_.step - 1}, {"algo", config_.algo}, {"val_score", found.score}};
    for (const auto& [output, score] : found.outputs) line["val." + output] = score;
    metrics.write(line);
    progress.validation(found.score);
    if (!(found.score > state_.best_score)) return;  // a score that is no number is never the best
    state_.best_score = found.score;
    state_.best_step = state_.step - 1;
    save_parameters(directory_.best(), config_.algo, net_, state_.step);
  }

  void save() {
    state_.optimizer = optimizer_.state();
    state_.stream = stream_.state();
    save_state(directory_.last(), config_.algo, net_, state_);
  }

  /// Scores the best parameters; false where a signal came.
  bool test(RunResult& result) {
    result = {config_.algo,
              config_.processor,
              config_.seed,
              config_.steps,
              state_.seconds,
              state_.best_score,
              validation_.nodes(),
              state_.best_step,
              {},
              device_text(runner_.threads())};
    load_parameters(directory_.best(), config_.algo, net_);
    for (const int length : config_.test_lengths) {
      const int samples =
          config_.test_samples > 0 ? config_.test_samples : samples_in(algorithm_, Split::kTest);
      const EvaluationSet set(net_.spec(), make_test_set(algorithm_, length, samples), kTestBatch);
      const auto found = set.score(net_, runner_, [] { return !stop_requested(); });
      if (!found) return false;
      result.tests.push_back(*found);
    }
    return true;
  }

  void draw_curves(const RunResult& result) const {
    Curves curves = read_curves(directory_.metrics());
    curves.title = fmt::format("{}, {}, seed {}", result.algo, result.processor, result.seed);
    curves.val_length = result.val_nodes;
    for (const Evaluation& test : result.tests) curves.tests.push_back({test.nodes, test.score});
    write_curves(directory_.curves(), curves);
  }

  const Config& config_;
  const RunDirectory& directory_;
  const Algorithm& algorithm_;
  Net net_;
  ShardRunner runner_;
  TrainingStream stream_;
  EvaluationSet validation_;
  Optimizer optimizer_;
  TrainState state_;
  Batch batch_;
  std::vector<Real> grads_;
};

}  // namespace

NetOptions net_options(const Config& config) {
  NetOptions options;
  options.processor = {.kind = config.processor,
                       .hidden = config.hidden,
                       .triplet_fts = config.triplet_fts,
                       .layer_norm = !config.no_ln};
  options.encoder_init =
      config.encoder_init == "default" ? EncoderInit::kDefault : EncoderInit::kXavierOnScalars;
  options.hint_repred = config.hint_repred_mode == "soft"   ? Repred::kSoft
                        : config.hint_repred_mode == "hard" ? Repred::kHard
                                                            : Repred::kHardOnEval;
  options.message_passing_steps = config.nb_msg_passing_steps;
  options.seed = config.seed;
  return options;
}

int threads_of(const Config& config) {
  return config.threads > 0 ? config.threads : available_threads();
}

Ending train(const Config& config, const RunDirectory& directory, RunPlan plan, RunResult& result) {
  return Training(config, directory, plan).run(result);
}

}  // namespace renar
