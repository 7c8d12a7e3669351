// How an op's kernels are held against its definition.
//
// In a build without CUDA the kernels run on fibers, under several schedules; in a build with CUDA
// they run on the GPU or, where there is none, are skipped. Memory of the device starts as NaN and
// has guards round every input; results of the tape are poisoned as everywhere (tests/support.h).
#pragma once

#include <optional>

#include "core/device.h"
#include "kernels/loss_sum.h"
#include "tests/support.h"

namespace renar::test {

/// kSimt or kCuda; nothing in a build with CUDA on a machine without a GPU (says so once).
std::optional<Device> accelerator();

struct DeviceCheck {
  std::vector<Numbers> inputs;          ///< they have gradients
  std::vector<Numbers> constants = {};  ///< without gradients; they follow the inputs
  double tolerance = kRounding;
};

/// Runs the op on the CPU and on the accelerator: values and all gradients agree, and the
/// accelerator's have the same bits under every schedule. Numbers of other types than Real reach
/// the device by Tape::send inside of `op`.
void same_on_device(const Op& op, const DeviceCheck& check);

/// The same for a loss and the gradients that it starts. Its value is read after backward.
void same_loss_on_device(const Loss& loss, const DeviceCheck& check);

/// While it lives, fibers start launches and run threads in an order of that number's own; 0: the
/// usual one.
class FiberOrder {
 public:
  explicit FiberOrder(int number);
  ~FiberOrder();
  FiberOrder(const FiberOrder&) = delete;
  FiberOrder& operator=(const FiberOrder&) = delete;
};

/// Where such a loss of up to `most` elements adds its costs.
LossSum open_sum(Tape& tape, double& sum, std::int64_t most);

/// On fibers: leaves out each barrier that the op's kernels have, one at a time, and expects that
/// the result then differs, or depends on the schedule, or that the bench refuses it.
void needs_every_barrier(const Op& op, const DeviceCheck& check);
void loss_needs_every_barrier(const Loss& loss, const DeviceCheck& check);

}  // namespace renar::test
