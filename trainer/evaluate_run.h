// A run directory, finished or not, scored at any size: the substance of renar_eval.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config.h"
#include "trainer/evaluate.h"
#include "trainer/machine.h"
#include "trainer/test_set.h"

namespace renar {

enum class Checkpoint { kBest, kLast };

/// "best" or "last".
std::string_view name_of(Checkpoint checkpoint);

/// A run's net with the parameters of one of its checkpoints.
struct TrainedRun {
  /// Throws UsageError where the directory is not a run's, renar::Error where the checkpoint is
  /// missing, damaged or of another net than config.toml says.
  TrainedRun(const std::string& directory, Checkpoint checkpoint, const ValidNames& valid);

  std::string directory;
  Checkpoint checkpoint;
  Config config;
  Net net;
  int step;  ///< updates that the parameters have seen
};

/// What is to be scored; empty values: as the run's test sets are.
struct EvaluationRequest {
  std::vector<std::string> algo;  ///< some of the run's; empty: all
  std::vector<int> lengths;       ///< empty: the run's test lengths; of kVal its split's length
  Split split = Split::kTest;     ///< whose seed and number of samples
  int samples = 0;
  std::optional<std::uint32_t> data_seed;
  std::vector<double> p;             ///< of graphs
  std::optional<int> length_needle;  ///< of string matchers
  bool hints = false;

  bool operator==(const EvaluationRequest&) const = default;
};

/// One algorithm at one length.
struct LengthScore {
  int length = 0;
  Evaluation test;
};
struct AlgorithmScores {
  std::string algo;
  std::vector<LengthScore> tests;
};

/// The sets of a request, by algorithm of the run: [k] is empty where it was not asked for. Throws
/// UsageError where the run has not what is asked, renar::Error where a sampler cannot serve a
/// length: before the first is scored.
std::vector<std::vector<TestSet>> sets_of(const TrainedRun& run, const EvaluationRequest& request);

/// Scores the sets and hands each table to `print` line by line as it comes. Empty where `go_on`
/// said no.
std::optional<std::vector<AlgorithmScores>> evaluate_run(
    const TrainedRun& run, const EvaluationRequest& request, const Machine& machine,
    const std::function<void(const std::string&)>& print, const std::function<bool()>& go_on);

/// Everything as one object; `seconds` is what it took.
nlohmann::ordered_json json_of(const TrainedRun& run, const EvaluationRequest& request,
                               const std::vector<AlgorithmScores>& scores, double seconds,
                               const Machine& machine);

}  // namespace renar
