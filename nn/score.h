// Scores of predicted outputs. MODEL.md 7.
//
//   scalar mean squared error; mask F1 over all elements of the set; mask_one, categorical and
//       pointer accuracy.
// A truth of -1 is masked out. Precision and recall are 1 where undefined, as in the field's
// reference; an accuracy over nothing is 1. The score of an algorithm is the mean over its outputs.
#pragma once

#include <vector>

#include "nn/batch.h"
#include "nn/predictions.h"

namespace renar {

/// What one output has gathered; a set of several batches adds up.
struct ScoreCount {
  double sum = 0;       ///< squared errors, or hits
  double elements = 0;  ///< that were counted
  double true_positive = 0, false_positive = 0, false_negative = 0;
};

/// Adds one batch's predictions (logits) of output `probe`.
void count_score(const Batch& batch, std::size_t probe, const Predictions& predictions,
                 ScoreCount& count);
double score_of(const Probe& probe, const ScoreCount& count);

/// The score of one batch alone: mean over outputs.
double batch_score(const Batch& batch, const Predictions& predictions);

}  // namespace renar
