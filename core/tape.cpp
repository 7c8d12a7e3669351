#include "core/tape.h"

#include <algorithm>

#include "core/check.h"

namespace renar {
namespace {

/// A gradient of a device that is no larger lasts: (B,N,H) of 32 samples of 16 nodes has a quarter.
constexpr std::int64_t kSmallGradient = std::int64_t{1} << 20;  // bytes

}  // namespace

void Tape::start(Mode mode, const Real* values, Real* grads, const ActiveParameters& active,
                 const PackedWeights* packed) {
  RENAR_CHECK(mode == Mode::kPredict || grads != nullptr,
              "[tape] recording needs a buffer for the parameters' gradients");
  mode_ = mode;
  in_step_ = false;
  param_values_ = values;
  param_grads_ = mode == Mode::kRecord ? grads : nullptr;
  active_ = active;
  packed_ = packed;
  kept_.reset();
  step_.reset();
  lasting_.reset();
  host_.reset();
  fetched_.reset();
  nodes_.clear();
  shared_.clear();
}

void Tape::begin_step() {
  step_.rewind({});
  fetched_.rewind({});
  in_step_ = true;
}

void Tape::end_step() {
  in_step_ = false;
  // Backward meets this node before the step's own: it finds the shared scratch zeroed.
  if (!recording()) return;
  file([arena = &step_, mark = step_.mark()] { arena->zero_below(mark); }, profile_op("end_step"));
}

Tensor Tape::use(const Param& param) const {
  // A parameter's numbers are read by every shard at once and written by the optimizer alone.
  Real* values = const_cast<Real*>(param_values_) + param.offset;
  Real* grads = param_grads_ == nullptr ? nullptr : param_grads_ + active_.place(param.offset);
  return {values, grads, param.shape};
}

Real* Tape::zeroed_kept(std::int64_t count) {
  Real* memory = kept_.array<Real>(count);
  fill_bytes(device_, memory, 0, static_cast<std::size_t>(count) * sizeof(Real));
  return memory;
}

Tensor Tape::output(const Shape& shape, std::initializer_list<Tensor> inputs) {
  return output(shape, std::any_of(inputs.begin(), inputs.end(),
                                   [](const Tensor& input) { return input.has_grad(); }));
}

Tensor Tape::output(const Shape& shape, bool wants_grad) {
  const bool small = shape.size() * static_cast<std::int64_t>(sizeof(Real)) <= kSmallGradient;
  return output(shape, wants_grad, small);
}

Tensor Tape::lasting_output(const Shape& shape, bool wants_grad) {
  return output(shape, wants_grad, true);
}

Tensor Tape::output(const Shape& shape, bool wants_grad, bool lasts) {
  Tensor out = constant(shape);
  if (!recording() || !wants_grad) return out;
  if (lasts && device_ != Device::kCpu) {
    out.grad = lasting_.array<Real>(out.size());
  } else {
    out.grad = in_step_ ? step_.array<Real>(out.size()) : zeroed_kept(out.size());
  }
  return out;
}

void Tape::backward() {
  ProfileBackward profile;
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    profile.enter(node->place.scope);
    node->run(node->closure);
    profile.ran(node->place.op);
  }
}

void Tape::identify(std::vector<std::uint64_t>& as) const {
  for (const Arena* arena : {&kept_, &step_, &lasting_, &host_}) arena->identify(as);
  as.push_back(reinterpret_cast<std::uintptr_t>(param_values_));
  as.push_back(reinterpret_cast<std::uintptr_t>(param_grads_));
}

void Tape::poison(bool on) {
  kept_.poison(on);
  step_.poison(on);
}

}  // namespace renar
