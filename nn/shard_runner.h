// Runs a batch on a net, on the cores of the CPU or on a device.
//
// On the CPU each thread has a tape whose memory is kept from batch to batch; each shard has a
// gradient buffer of its own. The sum over shards is taken in their order, so results have the same
// bits on any number of threads. On a device the whole batch is one shard, whatever the batch's own
// cut. The parameters lie there already (nn/placed_net.h); a net that was not placed is the CPU's.
#pragma once

#include <deque>
#include <vector>

#include "core/device_buffer.h"
#include "core/launch_graphs.h"
#include "nn/placed_net.h"

namespace renar {

class ShardRunner {
 public:
  /// `threads` are the CPU's, `precision` is of a device's products. Throws renar::Error for
  /// threads < 1, and for another precision than fp32 on the CPU.
  explicit ShardRunner(int threads, Device device = Device::kCpu,
                       Precision precision = Precision::kFp32);
  /// Most bytes that all shards of an update together keep for backward; what is more is computed
  /// again (core/tape.h). 0: no limit.
  void limit_memory(std::size_t budget);

  /// Losses of the batch; `grads` is overwritten with the gradients of the parameters that
  /// are active in the batch's task. `noise` says which update this is. `carried` is what the parts
  /// of a chunk start from and, afterwards, what those of the next one do; null: all start anew.
  /// Throws renar::Error where the net was placed elsewhere.
  Losses gradients(const PlacedNet& net, const Batch& batch, std::vector<Real>& grads,
                   const NoiseKey& noise = {}, Predictions* predictions = nullptr,
                   CarriedState* carried = nullptr);
  /// The same on a device, where `grads` and `losses` lie, zeroed: queued, and not waited for. Once
  /// something that was queued behind it has been fetched the caller turns `carried`.
  void queue_gradients(const PlacedNet& net, const Batch& batch, Real* grads, Losses* losses,
                       const NoiseKey& noise = {}, Predictions* predictions = nullptr,
                       CarriedState* carried = nullptr);
  /// Predictions as in evaluation.
  void predict(const PlacedNet& net, const Batch& batch, Predictions& predictions);

  /// How many updates were played and not launched (core/launch_graphs.h).
  std::int64_t updates_played() const { return graphs_.played(); }
  int threads() const { return threads_; }
  Device device() const { return device_; }

 private:
  Net::Request training_request(const Net& net, const Batch& batch, const NoiseKey& noise,
                                Predictions* predictions, CarriedState* carried);
  void identify(const PlacedNet& placed, const Samples& samples, const Net::Request& request);
  Losses run_shards(const Net& net, const Batch& batch, const Net::Request& request,
                    std::vector<Real>& grads);

  int threads_;
  Device device_;
  std::deque<Tape> tapes_;                      // one a thread, or the device's
  PackedWeights packed_;                        // of the CPU, as they are for the batch
  std::vector<std::vector<Real>> shard_grads_;  // one a shard
  std::vector<Losses> shard_losses_;            // one a shard
  LossScales scales_;
  ReconstructionScales reconstruction_scales_;
  LaunchGraphs graphs_;  // of a device
  LaunchGraphs::Key key_;
  DeviceBuffer<Real> device_grads_;  // of gradients() on a device
  DeviceBuffer<Losses> device_losses_;
};

}  // namespace renar
