// The scores of one batch, for tests; trainer/evaluate.h gathers those of sets.
#pragma once

#include "nn/score.h"

namespace renar::test {

/// Adds one batch's predictions (logits) of output `probe`.
inline void count_score(const Batch& batch, std::size_t probe, const Predictions& predictions,
                        ScoreCount& count) {
  for (std::int64_t b = 0; b < batch.size; ++b) {
    count_sample_score(batch, probe, predictions, 0, b, count);
  }
}

/// The mean over scored outputs.
inline double batch_score(const Batch& batch, const Predictions& predictions) {
  const std::vector<std::size_t> outputs = scored_outputs(*batch.spec);
  double sum = 0;
  for (const std::size_t p : outputs) {
    ScoreCount count;
    count_score(batch, p, predictions, count);
    sum += score_of((*batch.spec)[p], count);
  }
  return sum / static_cast<double>(outputs.size());
}

}  // namespace renar::test
