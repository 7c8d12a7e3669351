// What the net predicted for a batch: logits, in the batch's order of samples.
//
// Outputs [B, ...] are those of each sample's last step; hints [T-1, B, ...], frame t predicts
// truth frame t + 1, zeros after a sample's end. A pointer is its row of N logits; a permutation
// pointer's are the log-sinkhorn of its decoder, see nn/decoder.h.
//
// The logits of an edge pointer are N^3 numbers a frame, more than memory holds for large N. Where
// hints are only to be scored, kChoices keeps one number in place of each row of logits: the class
// or node that it chooses.
#pragma once

#include <vector>

#include "nn/batch.h"

namespace renar {

struct Predictions {
  enum class Hints { kNone, kLogits, kChoices };

  Hints hints = Hints::kNone;
  std::vector<std::vector<Real>>
      values;  // one for each probe; inputs, and hints unless asked for, are empty

  /// Room for a batch, zeroed.
  void prepare(const Batch& batch);
  Real* at(const Batch& batch, std::size_t probe, std::int64_t step, std::int64_t sample);
  const Real* at(const Batch& batch, std::size_t probe, std::int64_t step,
                 std::int64_t sample) const;
  /// Numbers of one sample in one row: its logits, or of a hint its choices.
  std::int64_t per_sample(const Batch& batch, std::size_t probe) const;
  /// Hints are not always asked for.
  bool wants(const Probe& probe) const {
    return probe.stage != Stage::kHint || hints != Hints::kNone;
  }
  /// Puts one sample's logits in their place; nothing if they are not wanted.
  void put(const Batch& batch, std::size_t probe, std::int64_t step, std::int64_t sample,
           const Real* logits);
  /// Whether the probe's rows are kept as their choices.
  bool as_choices(const Probe& probe) const;
};

/// Whether each row of the probe's logits chooses one of choices() by its largest: not scalars and
/// masks, nor permutations, whose rows choose together.
bool chooses(const Probe& probe);

/// Logits of one sample: the size of the truth, times N for a pointer.
std::int64_t logits_per_sample(const Batch& batch, std::size_t probe);

}  // namespace renar
