// What the net predicted for a batch: logits, in the batch's order of samples.
//
// Outputs [B, ...] are those of each sample's last step; hints [T-1, B, ...], frame t predicts
// truth frame t + 1, zeros after a sample's end. A pointer is its row of N logits; a permutation
// pointer's are the log-sinkhorn of its decoder, see nn/decoder.h.
#pragma once

#include <vector>

#include "nn/batch.h"

namespace renar {

struct Predictions {
  bool with_hints = false;
  std::vector<std::vector<Real>>
      values;  // one for each probe; inputs, and hints unless asked for, are empty

  /// Room for a batch, zeroed.
  void prepare(const Batch& batch);
  Real* at(const Batch& batch, std::size_t probe, std::int64_t step, std::int64_t sample);
  const Real* at(const Batch& batch, std::size_t probe, std::int64_t step,
                 std::int64_t sample) const;
};

/// Logits of one sample: the size of the truth, times N for a pointer.
std::int64_t logits_per_sample(const Batch& batch, std::size_t probe);

}  // namespace renar
