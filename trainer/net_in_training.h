// A net while it is trained, and who owns its numbers:
//
//              parameters that run      Adam's moments       gradients
//   CPU        the net's own            the host's           the host's
//   a device   the device's copy        the device's         the device's
//
// So on a device the net's own parameters are those of its construction or of the last fetch():
// call it before the host reads them. The net is this object's until it is destroyed; what the host
// writes to the parameters meanwhile is lost.
//
// An update on a device is queued whole (forward, backward, clip, Adam); then the host waits once,
// for what it reads back: the losses and the gradient's norm.
#pragma once

#include <memory>
#include <vector>

#include "nn/shard_runner.h"
#include "trainer/optimizer.h"

namespace renar {

class NetInTraining {
 public:
  /// Starts from the net's parameters as the host has them now and, where a run goes on, the
  /// optimizer's state then. Both references must outlive it. Throws renar::Error where the state
  /// is of another size.
  NetInTraining(Net& net, ShardRunner& runner, const OptimizerOptions& options,
                const OptimizerState& state = {});
  ~NetInTraining();

  /// One update by a batch; ShardRunner::gradients says what the arguments are. Where the losses'
  /// total is not finite nothing has moved, and the caller stops. Throws renar::Error, having moved
  /// nothing, where the gradient alone is not.
  Losses update(const Batch& batch, const NoiseKey& noise = {}, CarriedState* carried = nullptr);
  /// Updates made.
  std::int64_t updates() const;

  /// For predictions by the parameters as they are.
  const PlacedNet& placed() const { return placed_; }
  /// The net's own parameters and the state returned are now those that are trained.
  const OptimizerState& fetch();

 private:
  struct OnDevice;
  Losses update_on_device(const Batch& batch, const NoiseKey& noise, CarriedState* carried);

  Net& net_;
  ShardRunner& runner_;
  OptimizerOptions options_;
  PlacedNet placed_;
  Optimizer optimizer_;            // on a device it only holds what was fetched
  std::vector<Real> grads_;        // on the CPU
  std::unique_ptr<OnDevice> own_;  // on a device
};

}  // namespace renar
