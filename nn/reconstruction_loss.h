// L_rec: how well the decoders of the reconstruction recover the state that was fed in (paper,
// section 3.1, and its masked form of section 4.2; docs/model.md 9).
//
// A hint's loss is that of section 6 of docs/model.md, but against frame i, which step i read, and
// counted while length > i + 1. What was read after step 0 is mostly a soft prediction, which gets
// a gradient too. A sum is divided by how much of it is valid:
//   nothing hidden    all elements                                        lambda on all (ReNAR)
//   paper masking     the hidden pairs of the round; each element of a mask_one is 1/N of a row
//   authors' masking  all elements, but only hidden ones have a loss
// The authors count the row of a categorical hint only where its truth is exactly 1, so no soft
// prediction counts. Paper masking counts those rows too, ReNAR's with it, which hides nothing.
//
// As with other losses the divisor depends on the batch alone (and on keyed noise), never on
// predictions, so it is known before the shards start.
#pragma once

#include <vector>

#include "nn/hint_masks.h"
#include "nn/loss.h"

namespace renar {

/// How the hints of later steps come about in training.
struct HintFeedback {
  double teacher_forcing = 0;
  bool soft = true;
  std::uint64_t seed = 0;
};

/// lambda / valid elements for each round and hint. One that is used again allocates nothing.
class ReconstructionScales {
 public:
  void count(const Batch& batch, const MaskOptions& masks, double weight,
             const HintFeedback& feedback, const NoiseKey& key);
  /// None: the baseline.
  void clear() { rounds_.clear(); }
  bool empty() const { return rounds_.empty(); }
  /// By round and probe; 0 where nothing is valid.
  const std::vector<LossScales>& all() const { return rounds_; }

 private:
  std::vector<LossScales> rounds_;
  std::vector<std::array<double, kMaxProbes>> valid_;  // by round
  std::vector<std::uint8_t> hidden_;                   // (rounds, parts) of one sample and step
};

/// A hint that was fed in, and what became of it.
struct Recovered {
  Tensor logits = {};                     ///< of the reconstruction decoder
  Tensor fed_in = {};                     ///< the same numbers as they should be
  Tensor hidden = {};                     ///< 1 where it was hidden; absent: all counts
  bool first_step = false;                ///< which reads the truth
  const std::uint8_t* forced = nullptr;   ///< (B) who else read the truth; null: nobody
  const std::uint8_t* counted = nullptr;  ///< (B) whose loss counts; null: everybody's
  Masking masking = Masking::kPaper;
  bool soft = true;
};

/// `scale` lies where the tape's device is.
void add_reconstruction_loss(Tape& tape, const Probe& probe, const Recovered& recovered,
                             const Real* scale, const LossSum& loss);

}  // namespace renar
