// The training run: the only step loop. Data, gradients, update; now and then validation and a
// checkpoint; in the end the score on the test set of the parameters with the best validation
// score.
//
// Validation comes after step 0, after every --eval-every steps and after the last, as in the
// field's example run, and covers its whole set in order. Of equal scores the first wins. Steps are
// counted from 0 in metrics.jsonl.
#pragma once

#include <string>
#include <vector>

#include "nn/net.h"
#include "trainer/config.h"
#include "trainer/evaluate.h"
#include "trainer/run_directory.h"

namespace renar {

NetOptions net_options(const Config& config);
/// Threads a configuration asks for; 0 means all cores.
int threads_of(const Config& config);

/// What a finished run found; also read back from summary.json.
struct RunResult {
  std::string algo, processor;
  std::uint32_t seed = 0;
  int steps = 0;
  double seconds = 0;    ///< of training, all calls together
  double val_score = 0;  ///< the best
  int val_nodes = 0;
  int best_step = 0;  ///< after which it was seen
  std::vector<Evaluation> tests;
  std::string device;  ///< CPU, instruction set, threads
};

enum class Ending { kFinished, kStopped };

/// Trains in `directory` from the beginning or from its last.safetensors; at the end `result` is
/// filled and summary.json written. kStopped: a signal came, and last.safetensors is there to go on
/// from. Throws renar::Error where the loss is not finite (the files of the last checkpoint stay)
/// or a file cannot be written.
Ending train(const Config& config, const RunDirectory& directory, RunPlan plan, RunResult& result);

void write_summary(const std::string& path, const RunResult& result);
RunResult read_summary(const std::string& path);
/// The lines that end a run, for stdout.
std::string result_text(const RunResult& result, const RunDirectory& directory);

}  // namespace renar
