// A net with its parameters where its ops run.
//
// On the CPU they are the net's own. On a device they are a copy, and from then on the copy is what
// counts there: predictions read it and training moves it (trainer/net_in_training.h). The two
// never follow each other by themselves: what the host writes to the net later needs a new
// PlacedNet, and what the device has moved is the net's only after download().
#pragma once

#include <cstdint>

#include "core/device_buffer.h"
#include "nn/net.h"

namespace renar {

class PlacedNet {
 public:
  /// Copies the parameters to a device. The net must outlive it; one that was not placed anywhere
  /// is on the CPU.
  PlacedNet(const Net& net, Device device = Device::kCpu);

  const Net& net() const { return net_; }
  Device device() const { return device_; }
  /// No other of this process has it, not even one at the same address later.
  std::uint64_t number() const { return number_; }
  /// Where the ops of the device read the parameters.
  const Real* values() const;
  /// The copy on a device, to be moved by an optimizer that runs there. Throws renar::Error on the
  /// CPU, where the net's own are.
  Real* copy();
  /// Brings the net's own up to date; on the CPU they are.
  void download(Net& net) const;

 private:
  const Net& net_;
  Device device_;
  std::uint64_t number_;
  DeviceBuffer<Real> copy_;
};

}  // namespace renar
