// Losses of hints and outputs. docs/model.md 6.
//
// Each is a sum over valid elements times 1 / (number of valid elements). That number depends on
// the truth alone, so loss_scales computes it for the whole batch before the shards start, and
// shards simply add up.
//   valid    hints: frames t < length; outputs: each sample's last step, of parts of trajectories
//            only of those that end theirs
//   scalar   squared error                        mask          binary cross-entropy, -1 excluded
//   mask_one, categorical, pointer                cross-entropy over rows that have a marked class
//   permutation pointer   -log of the prediction (which is a logarithm already), over all rows
// Where nothing is valid the loss is 0.
#pragma once

#include <array>
#include <optional>

#include "kernels/loss_sum.h"
#include "nn/truths.h"

namespace renar {

/// 1 / number of valid elements for each probe with a loss; 0 for inputs and where nothing is
/// valid.
using LossScales = std::array<Real, kMaxProbes>;

/// What a shard or a batch lost.
struct Losses {
  std::array<double, kMaxProbes> probes{};  ///< of predictions; inputs have 0
  double reconstruction = 0;                ///< lambda L_rec (nn/reconstruction.h)

  double& operator[](std::size_t probe) { return probes[probe]; }
  double operator[](std::size_t probe) const { return probes[probe]; }
  Losses& operator+=(const Losses& other);
  bool operator==(const Losses& other) const = default;
};
/// The training loss.
double total(const Losses& losses);

LossScales loss_scales(const Batch& batch);
/// `count` of them where the tape's device is, for the trajectory. Kernels read them there: what is
/// valid changes from batch to batch and, of a reconstruction, with what is hidden, but their
/// launches should not (core/launch_graphs.h).
const LossScales* send_scales(Tape& tape, const LossScales* scales, std::int64_t count);

/// Elements, or rows of a class choice, that count in the `count` numbers of one sample's truth in
/// one frame.
std::int64_t valid_elements(const Probe& probe, const Real* truth, std::int64_t count,
                            std::int64_t nodes);

/// The losses of one shard along its trajectory.
class ShardLosses {
 public:
  /// `losses` are what the shard's are added to, where the tape's device is; null, and `scales`
  /// too: none are wanted. On a device their sums are complete after backward. `samples` must
  /// outlive it.
  ShardLosses(Tape& tape, const Samples& samples, HintMode hints, const LossScales* scales,
              Losses* losses);

  /// Adds the loss of `logits` for samples [begin, begin + B) in `frame` of their truth (0 for
  /// outputs).
  void add(std::size_t probe, std::int64_t frame, std::int64_t begin, Tensor logits) const;
  /// From here on losses start gradients but are not added: they have been, when these steps were
  /// run for the first time. (A device finds costs in backward, which has every step once.)
  void stop_adding();
  /// Where lambda L_rec goes.
  const LossSum& reconstruction() const { return sums_[spec_.size()]; }

 private:
  Tape& tape_;
  const Spec& spec_;
  const LossScales* scales_;  // where the tape's device is
  std::optional<Truths> truths_;
  std::array<LossSum, kMaxProbes + 1> sums_{};  // of every probe, then of the reconstruction
  double unwanted_ = 0;
};

}  // namespace renar
