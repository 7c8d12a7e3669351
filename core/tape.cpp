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
  in_step_ = in_segments_ = of_trajectory_ = false;
  param_values_ = values;
  param_grads_ = mode == Mode::kRecord ? grads : nullptr;
  active_ = active;
  packed_ = packed;
  kept_.reset();
  step_.reset();
  lasting_.reset();
  whole_.reset();
  whole_lasting_.reset();
  host_.reset();
  fetched_.reset();
  fetches_.clear();
  for (std::vector<Node>* nodes : {&nodes_, &nodes_of_trajectory_, &segments_}) nodes->clear();
  shared_.clear();
  shared_of_trajectory_.clear();
  nodes_floor_ = 0;
}

void Tape::begin_step() {
  step_.rewind({});
  if (fetches_.empty()) fetched_.rewind({});
  in_step_ = true;
  used_before_step_ = used();
}

void Tape::end_step() {
  in_step_ = false;
  used_by_step_ = used() - used_before_step_;
  // Backward meets this node before the step's own: it finds the shared scratch zeroed.
  if (!recording()) return;
  file([arena = &step_, mark = step_.mark()] { arena->zero_below(mark); }, profile_op("end_step"));
}

void Tape::begin_segments() {
  if (!recording()) return;
  in_segments_ = true;
  kept_floor_ = kept_.mark();
  lasting_floor_ = lasting_.mark();
  nodes_floor_ = nodes_.size();
  shared_.clear();
}

bool Tape::is_full() const {
  return in_segments_ && budget_ > 0 && used() + used_by_step_ > budget_;
}

void Tape::forget_segment() {
  nodes_.resize(nodes_floor_);
  shared_.clear();
  kept_.rewind(kept_floor_);
  lasting_.rewind(lasting_floor_);
}

void Tape::fetch_all() {
  if (fetches_.empty()) return;
  wait_for_all(device_);
  for (const Node& node : fetches_) node.run(node.closure);
  fetches_.clear();
  fetched_.rewind({});
}

Tensor Tape::use(const Param& param) const {
  // A parameter's numbers are read by every shard at once and written by the optimizer alone.
  Real* values = const_cast<Real*>(param_values_) + param.offset;
  Real* grads = param_grads_ == nullptr ? nullptr : param_grads_ + active_.place(param.offset);
  return {values, grads, param.shape};
}

Real* Tape::zeroed_kept(std::int64_t count) {
  Real* memory = kept().array<Real>(count);
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
    out.grad = (of_trajectory_ ? whole_lasting_ : lasting_).array<Real>(out.size());
  } else {
    out.grad = in_step_ ? step_.array<Real>(out.size()) : zeroed_kept(out.size());
  }
  return out;
}

// Closures may file others, which then run next.
void Tape::run_back(std::vector<Node>& nodes, std::size_t down_to, ProfileBackward& profile) {
  while (nodes.size() > down_to) {
    const Node node = nodes.back();
    nodes.pop_back();
    profile.enter(node.place.scope);
    node.run(node.closure);
    profile.ran(node.place.op);
  }
}

void Tape::backward() {
  ProfileBackward profile;
  run_back(nodes_, nodes_floor_, profile);
  while (!segments_.empty()) {
    lasting_.zero(lasting_floor_, lasting_.mark());
    forget_segment();
    run_back(segments_, segments_.size() - 1, profile);
    run_back(nodes_, nodes_floor_, profile);
  }
  {
    const OfTrajectory all(*this);  // they find what they shared when they were recorded
    run_back(nodes_of_trajectory_, 0, profile);
  }
  shared_.clear();  // the first segment's: what was recorded before it shares nothing with it
  run_back(nodes_, 0, profile);
}

void Tape::identify(std::vector<std::uint64_t>& as) const {
  for (const Arena* arena : {&kept_, &step_, &lasting_, &whole_, &whole_lasting_, &host_}) {
    arena->identify(as);
  }
  as.push_back(reinterpret_cast<std::uintptr_t>(param_values_));
  as.push_back(reinterpret_cast<std::uintptr_t>(param_grads_));
}

void Tape::poison(bool on) {
  kept_.poison(on);
  step_.poison(on);
  whole_.poison(on);
}

}  // namespace renar
