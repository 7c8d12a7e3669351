#include "trainer/net_in_training.h"

#include <cmath>

#include "core/arena.h"
#include "core/check.h"
#include "core/profile.h"
#include "kernels/adam.h"

namespace renar {
namespace {

/// What the host sends in an update, the factors, and reads after it, in one copy.
struct UpdateNumbers {
  Losses losses;
  Clip clip;
  AdamFactors factors;
};

constexpr std::int64_t kLosses = sizeof(Losses) / sizeof(double);
static_assert(sizeof(Losses) % sizeof(double) == 0 && kLosses <= kClipScratch);
const double* as_doubles(const Losses* losses) { return reinterpret_cast<const double*>(losses); }

}  // namespace

struct NetInTraining::OnDevice {
  OnDevice(Device device, const OptimizerState& state)
      : updates(state.steps),
        m(device),
        v(device),
        grads(device),
        scratch(device),
        numbers(device),
        to_send(device, Arena::Memory::kOfHost),
        here(to_send.array<UpdateNumbers>(1)) {
    const auto parameters = static_cast<std::int64_t>(state.m.size());
    m.upload(state.m.data(), parameters);
    v.upload(state.v.data(), parameters);
    grads.fit(parameters);
    scratch.fit(kClipScratch);
    numbers.fit(1);
  }

  std::int64_t updates;
  DeviceBuffer<Real> m, v, grads;
  DeviceBuffer<double> scratch;
  DeviceBuffer<UpdateNumbers> numbers;
  Arena to_send;
  UpdateNumbers* here;  // the host's side of `numbers`
};

NetInTraining::NetInTraining(Net& net, ShardRunner& runner, const OptimizerOptions& options,
                             const OptimizerState& state)
    : net_(net),
      runner_(runner),
      options_(options),
      placed_(net, runner.device()),
      optimizer_(net.parameters().size(), options) {
  if (state.steps > 0) optimizer_.restore(state);
  if (runner.device() != Device::kCpu) {
    own_ = std::make_unique<OnDevice>(runner.device(), optimizer_.state());
  }
}

NetInTraining::~NetInTraining() = default;

std::int64_t NetInTraining::updates() const {
  return own_ ? own_->updates : optimizer_.state().steps;
}

Losses NetInTraining::update(const Batch& batch, const NoiseKey& noise, CarriedState* carried) {
  if (own_) return update_on_device(batch, noise, carried);
  const Losses losses = runner_.gradients(placed_, batch, grads_, noise, nullptr, carried);
  if (std::isfinite(total(losses))) {
    optimizer_.update(net_.parameters(), grads_, net_.active(batch.task));
  }
  return losses;
}

Losses NetInTraining::update_on_device(const Batch& batch, const NoiseKey& noise,
                                       CarriedState* carried) {
  const Device device = placed_.device();
  const ActiveParameters active = net_.active(batch.task);
  UpdateNumbers *here = own_->here, *there = own_->numbers.zeros(1);
  Real* grads = own_->grads.zeros(active.size());
  runner_.queue_gradients(placed_, batch, grads, &there->losses, noise, nullptr, carried);

  const ProfileRange range("optimizer");
  // Only now: a tape that is started waits for what was sent before.
  here->factors =
      adam_factors({.step = own_->updates + 1, .learning_rate = options_.learning_rate});
  send_to_device(device, &there->factors, &here->factors, sizeof here->factors);
  measure_clip(device, active.size(), grads,
               {.max_norm = options_.clip, .losses = as_doubles(&there->losses), .count = kLosses},
               own_->scratch.data(), &there->clip);
  const auto move = [&](std::int64_t begin, std::int64_t end) {
    clipped_adam(device, end - begin, &there->factors, &there->clip, grads + active.place(begin),
                 placed_.copy() + begin, own_->m.data() + begin, own_->v.data() + begin);
  };
  move(options_.frozen, active.shared);
  move(active.begin, active.end);

  copy_to_host(device, here, there, sizeof *here);  // waits
  if (carried != nullptr) carried->turn();
  if (!std::isfinite(total(here->losses))) return here->losses;
  check_norm(here->clip.norm, own_->updates);
  ++own_->updates;
  return here->losses;
}

const OptimizerState& NetInTraining::fetch() {
  if (own_) {
    OptimizerState state = optimizer_.state();
    const auto parameters = static_cast<std::int64_t>(state.m.size());
    state.steps = own_->updates;
    own_->m.download(state.m.data(), parameters);
    own_->v.download(state.v.data(), parameters);
    optimizer_.restore(std::move(state));
  }
  placed_.download(net_);
  return optimizer_.state();
}

}  // namespace renar
