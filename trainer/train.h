// The training run: the only step loop. Data, gradients, update; now and then validation and a
// checkpoint; in the end the score on the test set of the parameters with the best validation
// score.
//
// Several algorithms share the processor: a step is one update for each in turn, which moves the
// processor and that algorithm's encoders and decoders. Their scores are averaged.
//
// Validation comes after step 0, after every --eval-every steps and after the last, as in the
// field's example run, and covers its whole set in order. Of equal scores the first wins. With
// --oracle the test sets are scored then, too, but nothing is chosen by them. Steps are counted
// from 0 in metrics.jsonl.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "algos/pipeline.h"
#include "nn/net.h"
#include "trainer/config.h"
#include "trainer/evaluate.h"
#include "trainer/run_directory.h"

namespace renar {

NetOptions net_options(const Config& config);
Pipeline pipeline_of(const Config& config);
/// The algorithms of a configuration as the net learns them.
std::vector<Task> tasks_of(const Config& config);

/// What a run found of one algorithm, with the best parameters.
struct AlgorithmResult {
  std::string algo;
  double val_score = 0;
  int val_nodes = 0;
  std::vector<Evaluation> tests;  ///< one a test length
};

/// The largest test score of any validated parameters, as the ReNAR authors report it: chosen on
/// the test set, so it flatters.
struct OracleScore {
  double score = -1;
  int step = -1;  ///< after which it was seen; -1: no finite score was
};

/// What a finished run found; also read back from summary.json.
struct RunResult {
  std::vector<AlgorithmResult> algorithms;
  std::string method;
  std::string processor;
  std::uint32_t seed = 0;
  int steps = 0;
  double seconds = 0;                    ///< of training, all calls together
  double val_score = 0;                  ///< the best mean over the algorithms
  int best_step = 0;                     ///< after which it was seen
  std::string device;                    ///< see text_of(Machine)
  double peak_mib = 0;                   ///< most memory that the process held meanwhile
  double data_wait_seconds = 0;          ///< of the last call's training: how long it had no data
  double validation_seconds = 0;         ///< of validations and of --oracle, beside `seconds`
  std::vector<OracleScore> oracle = {};  ///< one a test length; empty without --oracle

  /// The means over the algorithms of their scores at the test length of that number, and of what
  /// constant predictions score there.
  double score(std::size_t test) const;
  double trivial(std::size_t test) const;
};

enum class Ending { kFinished, kStopped };

/// Trains in `directory` from the beginning or from its last.safetensors; at the end `result` is
/// filled and summary.json written. kStopped: a signal came, and last.safetensors is there to go on
/// from. Throws renar::Error where the loss is not finite (the files of the last checkpoint stay)
/// or a file cannot be written. `held` is the directory's lock from before the plan was made.
Ending train(const Config& config, const RunDirectory& directory, RunPlan plan, RunResult& result,
             std::optional<DirectoryLock> held = {});

void write_summary(const std::string& path, const RunResult& result);
RunResult read_summary(const std::string& path);
/// The result that the object of a summary.json tells of. Throws nlohmann's exceptions, and
/// renar::Error where tests are missing.
RunResult result_of(const nlohmann::ordered_json& summary);
/// "dfs" or "3 algorithms".
std::string name_of(const RunResult& result);
/// "dfs, triplet_gmpnn with renar, seed 42"
std::string title_of(const RunResult& result);
/// The lines that end a run, for stdout.
std::string result_text(const RunResult& result, const RunDirectory& directory);

}  // namespace renar
