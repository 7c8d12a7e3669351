// Scores of a net on a fixed set, every sample once and in order.
//
//   score   of an output as in nn/score.h; of the set the mean over its outputs
//   exact   share of samples in which every choice is right: of an output, of all outputs, of a
//           hint at all its frames
//   hints   the prediction of step t is scored with frame t + 1, over the samples that still have
//           that frame; a hint's score is the mean over frames, weighted by their samples
//
// The number of steps a sample runs is taken from its true trace, as everywhere in the field: the
// net is not asked to find out when it is done.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algos/trace_batch.h"
#include "nn/score.h"
#include "nn/shard_runner.h"

namespace renar {

struct OutputScore {
  std::string name;
  double score = 0;
  double trivial = 0;  ///< of the best constant prediction (nn/score.h)
  double exact = 0;
};

struct HintScore {
  std::string name;
  Type type = Type::kScalar;       ///< of a scalar `score` is a mean squared error, `exact` is 1
  std::optional<double> score;     ///< empty where no sample has a second frame
  double exact = 0;                ///< share of the samples
  std::vector<double> along_time;  ///< [t] is the score of frame t + 1
};

struct Evaluation {
  double score = 0;                  ///< mean over outputs
  double trivial = 0;                ///< the same of the best constant predictions
  std::vector<OutputScore> outputs;  ///< one an output
  int samples = 0;
  int nodes = 0;
  double exact = 0;  ///< share of samples that have all outputs right

  std::vector<HintScore> hints = {};  ///< one a hint, if asked for
  std::vector<int> running = {};      ///< [t]: samples that have frame t + 1
  double hints_exact = 0;             ///< share of samples that have all hints right
};

/// Gathers the scores of a set, batch by batch.
class ScoreSums {
 public:
  /// Hints are scored unless kNone. `spec` must outlive it.
  ScoreSums(const Spec& spec, Predictions::Hints hints);

  void add(const Batch& batch, const Predictions& predictions);
  Evaluation result() const;

 private:
  struct Output {
    std::size_t probe;
    ScoreCount count = {};
    TrivialCounts trivial = {};
    int exact = 0;
  };
  struct Hint {
    std::size_t probe;
    std::vector<ScoreCount> along_time = {};
    int exact = 0;
  };

  bool add_outputs(const Batch& batch, const Predictions& predictions, std::int64_t sample);
  bool add_hints(const Batch& batch, const Predictions& predictions, std::int64_t sample);
  HintScore hint_score(const Hint& hint) const;
  double share(int samples) const;

  const Spec& spec_;
  std::vector<Output> outputs_;
  std::vector<Hint> hints_;
  std::vector<int> running_;
  int samples_ = 0, exact_ = 0, hints_exact_ = 0;
  int nodes_ = 0;
};

/// A set cut into batches that are evaluated one after another; cut once, used many times.
class EvaluationSet {
 public:
  /// `spec` is the net's for that task and must outlive the set.
  EvaluationSet(const Spec& spec, const TraceBatch& traces, int batch_size, int task = 0);

  Evaluation score(const PlacedNet& net, ShardRunner& runner) const;
  int nodes() const { return nodes_; }

 private:
  const Spec& spec_;
  std::vector<Batch> batches_;
  int nodes_;
};

}  // namespace renar
