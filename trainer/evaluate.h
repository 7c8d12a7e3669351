// Scores of a net on a fixed set, every sample once and in order.
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
};

struct Evaluation {
  double score = 0;                  ///< mean over outputs
  double trivial = 0;                ///< the same of the best constant predictions
  std::vector<OutputScore> outputs;  ///< one an output
  int samples = 0;
  int nodes = 0;
};

/// Scores a net on batches of `spec`, the net's for their task. `next` gives them one after
/// another, then null; they may share memory, so that a set need never be held whole. `go_on` is
/// asked before every batch; where it says no the evaluation is given up and empty.
std::optional<Evaluation> evaluate(const Net& net, ShardRunner& runner, const Spec& spec,
                                   const std::function<const Batch*()>& next,
                                   const std::function<bool()>& go_on);

/// A set cut into batches that are evaluated one after another; cut once, used many times.
class EvaluationSet {
 public:
  /// `spec` is the net's for that task and must outlive the set.
  EvaluationSet(const Spec& spec, const TraceBatch& traces, int batch_size, int task = 0);

  /// See evaluate.
  std::optional<Evaluation> score(const Net& net, ShardRunner& runner,
                                  const std::function<bool()>& go_on) const;
  int samples() const { return samples_; }
  int nodes() const { return nodes_; }

 private:
  const Spec& spec_;
  std::vector<Batch> batches_;
  int samples_;
  int nodes_;
};

}  // namespace renar
