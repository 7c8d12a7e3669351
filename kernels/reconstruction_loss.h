// Losses of a reconstruction against what was fed in (paper, section 3.1; docs/model.md 9), which
// may be a soft prediction with a gradient of its own, so that both sides are moved.
//
//   squares        sum w (x - t)^2
//   binary         sum over t != -1 of w (max(x, 0) - x t + log(1 + e^-|x|))
//   cross-entropy  - sum over counted rows of sum_c w_c t_c log softmax(x)_c
//   likelihood     - sum w t x, for x that are logarithms of probabilities already
//
// Each adds `scale` times its sum to `sum`; `scale` lies where the tape's device is, and is read by
// backward, too. Prediction x, truth t and weight w have one shape; an absent weight is all ones.
// Weights are data: they say which elements were masked. Samples may be left out whole.
#pragma once

#include "kernels/loss_sum.h"

namespace renar {

/// A prediction, what it should be, and how much each element counts.
struct Reconstructed {
  Tensor prediction;
  Tensor truth;
  Tensor weight;
  const std::uint8_t* samples = nullptr;  ///< (B) 0: left out; where the device is. Null: none is
};

void reconstruction_squares(Tape& tape, const Reconstructed& r, const Real* scale,
                            const LossSum& sum);
void reconstruction_binary(Tape& tape, const Reconstructed& r, const Real* scale,
                           const LossSum& sum);

/// Over the last axis. `counted` has 0 or 1 a row; null: all rows count.
void reconstruction_cross_entropy(Tape& tape, const Reconstructed& r, const Real* counted,
                                  const Real* scale, const LossSum& sum);
void reconstruction_likelihood(Tape& tape, const Reconstructed& r, const Real* scale,
                               const LossSum& sum);

/// Which rows of a categorical hint count: of a sample that read the truth those that mark a class
/// with 1, of one that read a prediction all or none.
struct RowRule {
  bool all_truth = false;                ///< every sample read the truth
  const std::uint8_t* forced = nullptr;  ///< (B) who else did, where the device is; null: nobody
  bool counts_predicted = true;
};
/// 0 or 1 a row of what was fed in (B,..,C).
const Real* counted_rows(Tape& tape, Tensor fed_in, const RowRule& rule);

}  // namespace renar
