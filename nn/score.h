// Scores of predicted outputs, and what knowing nothing would score. docs/model.md 7.
//
//   scalar                            mean squared error
//   mask                              F1 over all elements of the set
//   mask_one, categorical, pointers   accuracy
//
// A permutation pointer and its <name>_mask are scored as one pointer: itself at the node that the
// mask chooses, elsewhere the largest of its row after kScoreRounds of log_sinkhorn. The mask is
// not scored beside it.
//
// A truth of -1 is masked out. Every score is a finite number:
//   - precision and recall are 1 where undefined, as in the field's reference: a mask that is
//     nowhere true scores 1 if nothing is predicted and else 0, one that is masked out scores 1;
//   - an accuracy over nothing is 1 (the reference divides 0 by 0), an error over nothing 0;
//   - a graph without edges has a trajectory of one frame and outputs like any other.
//
// A hint is scored in the same way, at one step alone: the prediction of step t with frame t + 1.
//
// Many default values are right: zeros alone score 0.59 on matrix_chain_order at n = 16 and 0.52 at
// n = 64. So beside a score belongs that of the best constant prediction (trivial_score), found on
// the same truth. count_trivial says which constants are tried: of a mask_one node 0 or the last
// node, not every node.
#pragma once

#include <cstddef>
#include <vector>

#include "nn/batch.h"
#include "nn/predictions.h"

namespace renar {

/// What one output has gathered; a set of several batches adds up.
struct ScoreCount {
  double sum = 0;       ///< squared errors, or hits
  double elements = 0;  ///< that were counted
  double true_positive = 0, false_positive = 0, false_negative = 0;

  ScoreCount& operator+=(const ScoreCount& other);
};

/// The outputs that have a score: all but the masks of permutation pointers.
std::vector<std::size_t> scored_outputs(const Spec& spec);

/// Adds one sample's predictions (logits) of `probe`: of an output at step 0, of a hint at step
/// `step`, which a frame must be there to compare with: the sample has more than step + 1. Throws
/// renar::Error for a permutation pointer without its mask.
void count_sample_score(const Batch& batch, std::size_t probe, const Predictions& predictions,
                        std::int64_t step, std::int64_t sample, ScoreCount& count);
/// How many elements were chosen wrongly. Scalars are no choice: no net hits them to the bit.
double wrong_choices(const Probe& probe, const ScoreCount& count);
/// The score of docs/model.md 7 that the counts amount to.
double score_of(const Probe& probe, const ScoreCount& count);

/// What each constant prediction of one output has gathered.
using TrivialCounts = std::vector<ScoreCount>;

/// Adds one batch's truth of output `probe`. The constant predictions are
///   pointers     all to node 0; of nodes, all to themselves; of edges (i,j), all to i or all to j
///   mask         nowhere; everywhere           mask_one   node 0; the last node
///   categorical  each of the classes           scalar     0
void count_trivial(const Batch& batch, std::size_t probe, TrivialCounts& counts);
/// The best of those.
double trivial_score(const Probe& probe, const TrivialCounts& counts);

}  // namespace renar
