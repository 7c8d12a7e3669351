// Autograd: ops record how to run backward, and backward() walks the record in reverse.
//
// THE rule: a backward closure accumulates (+=) into the gradients of its inputs, and gradients
// start at zero. There are no op codes and no central switch over ops.
//
//   Tensor relu(Tape& tape, Tensor x) {
//     Tensor y = tape.output(x.shape, {x});              // has a gradient if x has one
//     for (...) y.data[i] = max(x.data[i], 0);
//     tape.record(y, [=] { for (...) x.grad[i] += x.data[i] > 0 ? y.grad[i] : 0; });
//     return y;
//   }
//
// An op throws renar::Error, with its name and the shapes that it saw, where its inputs do not fit
// together; where it throws for more, its header says so.
//
// A closure captures tensors by value, sees y.grad complete, and may overwrite it: nobody reads it
// later.
//
// Memory follows the time loop of a trajectory (nn/net.cpp). Values are kept until backward has
// used them. Gradients inside a time step are needed only while backward is in that step, so every
// step uses the same scratch for them, which stays in cache; only what crosses from step to step
// (kernels/carry.h) has its own. A device keeps small gradients and those of layers for the whole
// trajectory: copies, and sums made step by step, would cost it more. When predicting, nothing is
// recorded and the values of a step share one scratch too.
//
// A trajectory whose values are more than a budget is recorded in segments of some steps. All but
// the last are forgotten when they end; backward has them recorded again, the last first, each from
// the state that it began with (Chen et al. 2016, "Training deep nets with sublinear memory cost").
// The closures run in the same order as without segments, so a CPU computes the same bits; a device
// makes its sums over all time steps once a segment.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <vector>

#include "core/arena.h"
#include "core/packed_weights.h"
#include "core/parameters.h"
#include "core/profile.h"
#include "core/tensor.h"

namespace renar {

class Tape {
 public:
  enum class Mode { kRecord, kPredict };

  /// Its results lie on the device and its ops run there.
  explicit Tape(Device device = Device::kCpu, Precision precision = Precision::kFp32)
      : device_(device),
        precision_(precision),
        kept_(device),
        step_(device),
        lasting_(device, Arena::Memory::kZeroed),
        whole_(device),
        whole_lasting_(device, Arena::Memory::kZeroed),
        host_(device, Arena::Memory::kOfHost),
        fetched_(device, Arena::Memory::kOfHost) {}
  Device device() const { return device_; }
  /// Of the matrix products of a device.
  Precision precision() const { return precision_; }

  /// Forgets the last trajectory, whose results have been fetched, and starts one on parameters
  /// `values`; the gradients of those that are active (default: gradients are laid out as the
  /// parameters are) are added to `grads`, which may be null when predicting. On the CPU `packed`
  /// has the same values' panels, or is null.
  void start(Mode mode, const Real* values, Real* grads, const ActiveParameters& active = {},
             const PackedWeights* packed = nullptr);
  bool recording() const { return mode_ == Mode::kRecord; }

  /// The time loop calls these round every step.
  void begin_step();
  void end_step();

  /// Most bytes of a trajectory's values and gradients; 0: no limit. A single step is recorded
  /// whatever it needs.
  void limit(std::size_t budget) { budget_ = budget; }
  /// Before the first step: the first segment begins.
  void begin_segments();
  /// After a step: whether another one of its size would be beyond the budget.
  bool is_full() const;
  /// Forgets the segment, whose steps are over, and begins the next one. When backward has passed
  /// that, `again` is to record this one's steps anew and to start their gradients.
  template <class Again>
  void end_segment(const Again& again, const char* op = __builtin_FUNCTION()) {
    const OfTrajectory lasting(*this);
    segments_.push_back(node_of(again, profile_op(op)));
    forget_segment();
  }

  /// While it lives, results belong to the trajectory and not to the current step.
  class OutsideStep {
   public:
    explicit OutsideStep(Tape& tape) : tape_(tape), was_in_step_(tape.in_step_) {
      tape.in_step_ = false;
    }
    ~OutsideStep() { tape_.in_step_ = was_in_step_; }
    OutsideStep(const OutsideStep&) = delete;
    OutsideStep& operator=(const OutsideStep&) = delete;

   private:
    Tape& tape_;
    bool was_in_step_;
  };

  /// While it lives, results and their closures belong to the trajectory, whatever its segments:
  /// what all steps share, whose gradient is complete when backward has passed the first of them.
  class OfTrajectory {
   public:
    explicit OfTrajectory(Tape& tape) : tape_(tape), outside_(tape), was_(tape.of_trajectory_) {
      tape.of_trajectory_ = tape.in_segments_;
    }
    ~OfTrajectory() { tape_.of_trajectory_ = was_; }
    OfTrajectory(const OfTrajectory&) = delete;
    OfTrajectory& operator=(const OfTrajectory&) = delete;

   private:
    Tape& tape_;
    OutsideStep outside_;
    bool was_;
  };

  /// A parameter as a tensor.
  Tensor use(const Param& param) const;
  /// The panels of such a tensor's (rows, cols) numbers or of some rows of it, or of its transpose;
  /// none where there are none.
  Panels panels(const Tensor& w) const {
    return packed_ == nullptr ? Panels{} : packed_->of(w.data, w.cols());
  }
  Panels panels_transposed(const Tensor& w) const {
    return packed_ == nullptr ? Panels{} : packed_->of_transposed(w.data, w.cols());
  }

  /// Room for an op's result; it has a gradient if recording and any of the inputs has one.
  Tensor output(const Shape& shape, std::initializer_list<Tensor> inputs);
  Tensor output(const Shape& shape, bool wants_grad);
  /// The same, but a device keeps the gradient until backward has ended, so that sums over all time
  /// steps can be made at once (kernels/linear.cu).
  Tensor lasting_output(const Shape& shape, bool wants_grad);
  /// Whether a gradient is still what it was when its time step is over.
  bool lasts(const Real* grad) const { return !step_.holds(grad); }
  /// Whether a gradient is of a result of this tape, and not of a parameter.
  bool owns(const Real* grad) const {
    return step_.holds(grad) || lasting_.holds(grad) || whole_lasting_.holds(grad) ||
           kept_.holds(grad) || whole_.holds(grad);
  }
  /// Whether a tensor of a device lives as long as the trajectory, numbers and gradient. Most do
  /// while recording, as all but large gradients last there: the copies would cost more.
  bool survives(const Tensor& x) const {
    return device_ != Device::kCpu && !step_.holds(x.data) && lasts(x.grad);
  }
  /// What several ops of a segment, or of the trajectory, share, found by an address; the first to
  /// ask makes it, and `made` says so.
  template <class T>
  T& shared(const void* address, bool& made) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* what = find_shared<T>(address);
    made = what == nullptr;
    if (!made) return *what;
    what = new (closures().allocate(sizeof(T))) T();
    shared_now().insert(place_of(address), {address, what});
    return *what;
  }
  /// The same, or null where nobody has made it.
  template <class T>
  T* find_shared(const void* address) {
    const auto at = place_of(address);
    return at == shared_now().end() || at->address != address ? nullptr : static_cast<T*>(at->what);
  }
  /// Numbers without gradient: data, masks, scratch that a backward closure needs.
  Tensor constant(const Shape& shape) {
    return {values_arena().array<Real>(shape.size()), nullptr, shape};
  }
  template <class T>
  T* array(std::int64_t count) {
    return values_arena().array<T>(count);
  }
  /// Room on the host: for what is sent to the device, and for what closures point at.
  template <class T>
  T* host_array(std::int64_t count) {
    return device_ == Device::kCpu ? array<T>(count) : host_.array<T>(count);
  }
  Tensor host_constant(const Shape& shape) {
    return {host_array<Real>(shape.size()), nullptr, shape};
  }
  /// What was written to a host_array, on the device; on the CPU it is there already. Does not wait
  /// for the device, of which there would be many pauses in a time step: what is sent must stay as
  /// it is until something is fetched.
  template <class T>
  const T* send(const T* host, std::int64_t count) {
    if (device_ == Device::kCpu) return host;
    T* there = array<T>(count);
    send_to_device(device_, there, host, static_cast<std::size_t>(count) * sizeof(T));
    return there;
  }
  Tensor send(const Tensor& host) {
    return {const_cast<Real*>(send<Real>(host.data, host.size())), nullptr, host.shape};
  }
  /// The numbers of a device for the host to read, until the next time step begins.
  template <class T>
  const T* fetch(const T* there, std::int64_t count) {
    if (device_ == Device::kCpu) return there;
    T* host = fetched_.array<T>(count);
    copy_to_host(device_, host, there, static_cast<std::size_t>(count) * sizeof(T));
    return host;
  }
  /// Calls then(const T*) with numbers of the device once they are here, those of the CPU at once:
  /// many are waited for together, when fetch_all() is called or there are too many. `then` holds
  /// pointers and numbers.
  template <class T, class Then>
  void fetch_later(const T* there, std::int64_t count, const Then& then) {
    if (device_ == Device::kCpu) return then(there);
    T* host = fetched_.array<T>(count);
    queue_copy(device_, host, there, static_cast<std::size_t>(count) * sizeof(T));
    fetches_.push_back(node_of([then, host] { then(host); }, {}));
    if (fetched_.used() > kMostFetched) fetch_all();
  }
  void fetch_all();

  /// Files `backward` to be run for `output`; dropped where output has no gradient. Profiles call
  /// the op by the name of the function that calls this.
  template <class Backward>
  void record(const Tensor& output, const Backward& backward,
              const char* op = __builtin_FUNCTION()) {
    const ProfilePlace place = profile_op(op);
    if (output.has_grad()) file(backward, place);
  }
  /// Files a closure that starts gradients: a loss (it has no output tensor).
  template <class Backward>
  void record_loss(const Backward& backward, const char* op = __builtin_FUNCTION()) {
    const ProfilePlace place = profile_op(op);
    if (recording()) file(backward, place);
  }

  /// Runs every closure, last first. Gradients of parameters are complete afterwards.
  void backward();

  void poison(bool on);
  /// Adds what the addresses of a trajectory that starts now depend on, beside its own extents.
  void identify(std::vector<std::uint64_t>& as) const;
  std::size_t bytes() const {
    return kept_.capacity() + step_.capacity() + lasting_.capacity() + whole_.capacity() +
           whole_lasting_.capacity() + host_.capacity() + fetched_.capacity();
  }

 private:
  static constexpr std::size_t kMostFetched = std::size_t{1} << 24;  // bytes that wait

  struct Shared {
    const void* address;
    void* what;
    bool operator<(const Shared& other) const { return address < other.address; }
  };
  struct Node {
    void (*run)(const void*);
    const void* closure;
    ProfilePlace place;
  };

  template <class Backward>
  Node node_of(const Backward& backward, const ProfilePlace& place) {
    static_assert(std::is_trivially_destructible_v<Backward>, "capture tensors and numbers only");
    static_assert(alignof(Backward) <= 64);
    void* memory = closures().allocate(sizeof(Backward));
    new (memory) Backward(backward);
    return {[](const void* closure) { (*static_cast<const Backward*>(closure))(); }, memory, place};
  }
  template <class Backward>
  void file(const Backward& backward, const ProfilePlace& place) {
    (of_trajectory_ ? nodes_of_trajectory_ : nodes_).push_back(node_of(backward, place));
  }
  std::vector<Shared>& shared_now() { return of_trajectory_ ? shared_of_trajectory_ : shared_; }
  /// Where it is among them, or would be.
  std::vector<Shared>::iterator place_of(const void* address) {
    std::vector<Shared>& all = shared_now();
    return std::lower_bound(all.begin(), all.end(), Shared{address, nullptr});
  }
  Arena& kept() { return of_trajectory_ ? whole_ : kept_; }
  Arena& values_arena() { return in_step_ && !recording() ? step_ : kept(); }
  Arena& closures() { return device_ == Device::kCpu ? kept() : host_; }
  Tensor output(const Shape& shape, bool wants_grad, bool lasts);
  Real* zeroed_kept(std::int64_t count);
  std::size_t used() const {
    return kept_.used() + step_.used() + lasting_.used() + whole_.used() + whole_lasting_.used();
  }
  void forget_segment();
  void run_back(std::vector<Node>& nodes, std::size_t down_to, ProfileBackward& profile);

  Device device_;
  Precision precision_;
  Mode mode_ = Mode::kPredict;
  bool in_step_ = false;
  const Real* param_values_ = nullptr;
  Real* param_grads_ = nullptr;
  ActiveParameters active_;
  const PackedWeights* packed_ = nullptr;
  bool in_segments_ = false;
  bool of_trajectory_ = false;
  Arena kept_;           // lives as long as the trajectory or its segment
  Arena step_;           // reused by every time step
  Arena lasting_;        // gradients of a device that live as long; they start as zeros
  Arena whole_;          // beside segments: lives as long as the trajectory
  Arena whole_lasting_;  // and such gradients of a device, zeroed at once as lasting_'s are
  Arena host_;           // beside a device: closures, and numbers on their way to it
  Arena fetched_;        // and those that have come back, or will
  std::vector<Node> fetches_;
  std::vector<Node> nodes_, nodes_of_trajectory_;
  std::vector<Node> segments_;                         // each records itself anew
  std::vector<Shared> shared_, shared_of_trajectory_;  // by address

  std::size_t budget_ = 0;
  // Where the first segment begins, and the others when those before are forgotten.
  Arena::Mark kept_floor_, lasting_floor_;
  std::size_t nodes_floor_ = 0;
  std::size_t used_before_step_ = 0, used_by_step_ = 0;
};

}  // namespace renar
