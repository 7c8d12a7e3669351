#include "nn/placed_net.h"

#include <atomic>

#include "core/check.h"

namespace renar {

namespace {

std::atomic<std::uint64_t> placed{0};

}  // namespace

PlacedNet::PlacedNet(const Net& net, Device device)
    : net_(net), device_(device), number_(++placed), copy_(device) {
  if (device != Device::kCpu) copy_.upload(net.parameters().values(), net.parameters().size());
}

const Real* PlacedNet::values() const {
  return device_ == Device::kCpu ? net_.parameters().values() : copy_.data();
}

Real* PlacedNet::copy() {
  RENAR_CHECK(device_ != Device::kCpu, "[placed_net] on {} there is no copy", name_of(device_));
  return copy_.data();
}

void PlacedNet::download(Net& net) const {
  RENAR_CHECK(&net == &net_, "[placed_net] its {} parameters are another net's",
              net_.parameters().size());
  if (device_ != Device::kCpu) copy_.download(net.parameters().values(), net.parameters().size());
}

}  // namespace renar
