// Runs a batch on a net, on the cores of the CPU or on a device.
//
// On the CPU each thread has a tape whose memory is kept from batch to batch; each shard has a
// gradient buffer of its own. The sum over shards is taken in their order, so results have the same
// bits on any number of threads. On a device the whole batch is one shard, whatever the batch's own
// cut, and the parameters are copied there first.
#pragma once

#include <vector>

#include "core/device_buffer.h"
#include "nn/net.h"

namespace renar {

class ShardRunner {
 public:
  /// `threads` are the CPU's. Throws renar::Error for threads < 1.
  explicit ShardRunner(int threads, Device device = Device::kCpu);

  /// Losses of the batch; `grads` is overwritten with the gradients of the parameters that
  /// are active in the batch's task. `noise` says which update this is. `carried` is what the parts
  /// of a chunk start from and, afterwards, what those of the next one do; null: all start anew.
  Losses gradients(const Net& net, const Batch& batch, std::vector<Real>& grads,
                   const NoiseKey& noise = {}, Predictions* predictions = nullptr,
                   CarriedState* carried = nullptr);
  /// Predictions as in evaluation.
  void predict(const Net& net, const Batch& batch, Predictions& predictions);

  int threads() const { return threads_; }
  Device device() const { return device_; }

 private:
  Losses run_shards(const Net& net, const Batch& batch, const Net::Request& request,
                    std::vector<Real>& grads);
  Losses run_on_device(const Net& net, const Batch& batch, Net::Request request,
                       std::vector<Real>& grads);

  int threads_;
  Device device_;
  std::vector<Tape> tapes_;                     // one a thread, or the device's
  std::vector<std::vector<Real>> shard_grads_;  // one a shard
  std::vector<Losses> shard_losses_;            // one a shard
  ReconstructionScales reconstruction_scales_;
  DeviceBuffer<Real> device_values_, device_grads_;
  DeviceBuffer<Losses> device_losses_;
};

}  // namespace renar
