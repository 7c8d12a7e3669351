// Runs a batch's shards on threads and puts their results together in shard order.
//
// Each thread has a tape whose memory is kept from batch to batch; each shard has a gradient buffer
// of its own. The sum over shards is taken in their order, so results have the same bits on any
// number of threads.
#pragma once

#include <vector>

#include "nn/net.h"

namespace renar {

class ShardRunner {
 public:
  /// Throws renar::Error for threads < 1.
  explicit ShardRunner(int threads);

  /// Losses of the batch; `grads` is overwritten with the gradients of the parameters that
  /// are active in the batch's task. `noise` says which update this is. `carried` is what the parts
  /// of a chunk start from and, afterwards, what those of the next one do; null: all start anew.
  Losses gradients(const Net& net, const Batch& batch, std::vector<Real>& grads,
                   const NoiseKey& noise = {}, Predictions* predictions = nullptr,
                   CarriedState* carried = nullptr);
  /// Predictions as in evaluation.
  void predict(const Net& net, const Batch& batch, Predictions& predictions);

  int threads() const { return static_cast<int>(tapes_.size()); }

 private:
  std::vector<Tape> tapes_;                     // one a thread
  std::vector<std::vector<Real>> shard_grads_;  // one a shard
  std::vector<Losses> shard_losses_;            // one a shard
  ReconstructionScales reconstruction_scales_;
};

}  // namespace renar
