#include "tests/support_device.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "core/check.h"
#include "core/simt.h"
#include "core/simt_touched.h"

namespace renar::test {
namespace {

constexpr std::int64_t kGuards = 64;
constexpr Real kStart = 1;  // gradients start at one: backward must add to them
// Arithmetic makes a quiet NaN of it, so that it shows even where a kernel adds 0 to it.
constexpr Real kGuard = std::numeric_limits<Real>::signaling_NaN();

bool is_guard(const Real& x) { return std::memcmp(&x, &kGuard, sizeof x) == 0; }

/// One tensor on the device, values and gradient between guards.
class DeviceNumbers {
 public:
  DeviceNumbers(Device device, const Numbers& from, bool has_grad)
      : device_(device), shape_(from.shape()), has_grad_(has_grad) {
    const std::int64_t size = shape_.size();
    std::vector<Real> all(static_cast<std::size_t>(2 * size + 3 * kGuards), kGuard);
    const std::vector<Real> values = from.values();
    std::copy(values.begin(), values.end(), all.begin() + kGuards);
    std::fill_n(all.begin() + 2 * kGuards + size, size, kStart);
    bytes_ = all.size() * sizeof(Real);
    memory_ = static_cast<Real*>(device_allocate(device, bytes_));
    copy_to_device(device, memory_, all.data(), bytes_);
  }
  ~DeviceNumbers() { device_release(device_, memory_); }
  DeviceNumbers(const DeviceNumbers&) = delete;
  DeviceNumbers& operator=(const DeviceNumbers&) = delete;

  Tensor tensor() const {
    Real* values = memory_ + kGuards;
    return {values, has_grad_ ? values + shape_.size() + kGuards : nullptr, shape_};
  }
  /// Fails the test where a guard was overwritten.
  std::vector<Real> grad() const {
    std::vector<Real> all(bytes_ / sizeof(Real));
    copy_to_host(device_, all.data(), memory_, bytes_);
    const std::int64_t size = shape_.size();
    for (std::int64_t zone = 0; zone < 3; ++zone) {
      const auto from = all.begin() + zone * (kGuards + size);
      CHECK(std::all_of(from, from + kGuards, is_guard));
    }
    const auto begin = all.begin() + 2 * kGuards + size;
    return {begin, begin + size};
  }

 private:
  Device device_;
  Shape shape_;
  bool has_grad_;
  std::size_t bytes_ = 0;
  Real* memory_ = nullptr;
};

struct Outcome {
  std::vector<Real> value;
  std::vector<std::vector<Real>> grads;
};

/// The numbers of a result. The arena gives whole cache lines, poisoned with ones: fails the test
/// where those past the end were written.
const Real* fetched(Tape& tape, const Tensor& y) {
  constexpr std::int64_t kLine = 64 / sizeof(Real);
  const std::int64_t count = y.size(), lines = (count + kLine - 1) / kLine;
  const Real* here = tape.fetch(y.data, lines * kLine);
  const auto* padding = reinterpret_cast<const unsigned char*>(here + count);
  CHECK_MESSAGE(std::all_of(padding, reinterpret_cast<const unsigned char*>(here + lines * kLine),
                            [](unsigned char byte) { return byte == 0xff; }),
                "a kernel wrote past the end of its result");
  return here;
}

/// Runs `forward`, which may give a result whose gradient is then set, and backward, after which
/// `forward`'s result says what the value is.
template <class Forward>
Outcome run_on(Device device, const DeviceCheck& check, const Forward& forward) {
  std::vector<std::unique_ptr<DeviceNumbers>> numbers;
  Inputs tensors;
  const auto add = [&](const std::vector<Numbers>& all, bool has_grad) {
    for (const Numbers& each : all) {
      numbers.push_back(std::make_unique<DeviceNumbers>(device, each, has_grad));
      tensors.push_back(numbers.back()->tensor());
    }
  };
  add(check.inputs, true);
  add(check.constants, false);
  FreshTape fresh(Tape::Mode::kRecord, device);
  Outcome outcome;
  const auto value = forward(fresh.tape, tensors);
  fresh.tape.backward();
  outcome.value = value();
  for (std::size_t k = 0; k < check.inputs.size(); ++k) outcome.grads.push_back(numbers[k]->grad());
  return outcome;
}

Outcome run_op(Device device, const Op& op, const DeviceCheck& check) {
  return run_on(device, check, [&](Tape& tape, const Inputs& tensors) {
    const Tensor y = op(tape, tensors);
    const std::vector<Real> dy = random_values(y.size(), 97);
    if (y.has_grad()) copy_to_device(device, y.grad, dy.data(), dy.size() * sizeof(Real));
    const bool is_input = std::any_of(tensors.begin(), tensors.end(),
                                      [&](const Tensor& x) { return x.data == y.data; });
    const Real* here = is_input ? tape.fetch(y.data, y.size()) : fetched(tape, y);
    return [value = std::vector<Real>(here, here + y.size())] { return value; };
  });
}

Outcome run_loss(Device device, const Loss& loss, const DeviceCheck& check) {
  return run_on(device, check, [&](Tape& tape, const Inputs& tensors) {
    const double zero = 0.5;  // a loss adds
    double* sum = tape.array<double>(1);
    copy_to_device(device, sum, &zero, sizeof zero);
    loss(tape, tensors, *sum);
    return [&tape, sum] { return std::vector<Real>{static_cast<Real>(*tape.fetch(sum, 1))}; };
  });
}

constexpr simt::Schedule kAllSchedules[] = {{simt::Order::kForward, 0},
                                            {simt::Order::kReverse, 0},
                                            {simt::Order::kRandom, 1},
                                            {simt::Order::kRandom, 2},
                                            {simt::Order::kOneAhead, 3}};

/// A race is seen under any of them, by those who see races.
std::span<const simt::Schedule> schedules() {
  return std::span(kAllSchedules).first(simt::watches_races() ? 1 : std::size(kAllSchedules));
}

/// So is memory that is not the kernel's, under the address sanitizer; what depends on the schedule
/// is left to the build in double.
std::span<const simt::Schedule> schedules_to_compare() {
  return kSanitized ? schedules().first(1) : schedules();
}

/// run(device) under a schedule.
template <class Run>
Outcome run_scheduled(const simt::Schedule& schedule, Device device, const Run& run) {
  struct Reset {
    ~Reset() { simt::set_schedule({}); }
  } reset;
  simt::set_schedule(schedule);
  return run(device);
}

/// run(device) with collected kernels that must say what they touch.
template <class Run>
void watch(Device device, const Run& run) {
  if (device != Device::kSimt || kSanitized || simt::watches_races()) return;
  struct Reset {
    ~Reset() { simt::watch_touched(false); }
  } reset;
  simt::watch_touched(true);
  CHECK_NOTHROW(run(device));
}

/// run(device) on the CPU and, under each schedule, on the accelerator.
template <class Run>
void compare(const DeviceCheck& check, const Run& run) {
  const std::optional<Device> device = accelerator();
  if (!device) return;
  const Outcome want = run(Device::kCpu);
  std::optional<Outcome> first;
  for (const simt::Schedule& schedule : schedules_to_compare()) {
    const Outcome got = run_scheduled(schedule, *device, run);
    if (first) {
      CHECK_MESSAGE(got.value == first->value, "the value depends on the schedule");
      CHECK_MESSAGE(got.grads == first->grads, "a gradient depends on the schedule");
      continue;
    }
    first = got;
    check_same("value on the device", got.value, want.value, check.tolerance);
    for (std::size_t k = 0; k < want.grads.size(); ++k) {
      check_same("gradient of input " + std::to_string(k) + " on the device", got.grads[k],
                 want.grads[k], check.tolerance);
    }
  }
  watch(*device, run);
}

/// Whether the barrier's absence shows under any schedule.
template <class Run>
bool is_missed(const std::optional<simt::Barrier>& barrier, const Outcome& right, const Run& run) {
  struct PutBack {
    ~PutBack() { simt::leave_out({}); }
  } put_back;
  simt::leave_out(barrier);
  for (const simt::Schedule& schedule : schedules()) {
    try {
      const Outcome got = run_scheduled(schedule, Device::kSimt, run);
      if (got.value != right.value || got.grads != right.grads) return true;
    } catch (const Error&) {
      return true;
    }
  }
  return false;
}

template <class Run>
void miss_every_barrier(const Run& run) {
  if (built_with_cuda()) return;
  simt::watch_barriers();
  const Outcome right = run(Device::kSimt);
  const std::vector<simt::Barrier> barriers = simt::barriers_seen();
  CHECK_MESSAGE(!barriers.empty(), "the kernels have no barrier");
  CHECK_MESSAGE(!is_missed({}, right, run), "NaN, or wrong already with all barriers");
  for (const simt::Barrier& barrier : barriers) {
    CHECK_MESSAGE(is_missed(barrier, right, run), barrier.text(), " can be left out unseen");
  }
}

}  // namespace

std::optional<Device> accelerator() {
#ifdef RENAR_CUDA
  static const std::optional<Device> found = []() -> std::optional<Device> {
    std::string why;
    if (find_device("auto", &why) == Device::kCuda) return Device::kCuda;
    std::printf("SKIPPED (CUDA) the kernels: %s\n", why.c_str());
    return {};
  }();
  return found;
#else
  return Device::kSimt;
#endif
}

FiberOrder::FiberOrder(int number) {
  simt::set_schedule(kAllSchedules[static_cast<std::size_t>(number) % std::size(kAllSchedules)]);
}
FiberOrder::~FiberOrder() { simt::set_schedule({}); }

LossSum open_sum(Tape& tape, double& sum, std::int64_t most) {
  LossSum opened(sum, most);
  open_sums(tape, &opened, 1);
  return opened;
}

void same_on_device(const Op& op, const DeviceCheck& check) {
  compare(check, [&](Device device) { return run_op(device, op, check); });
}

void same_loss_on_device(const Loss& loss, const DeviceCheck& check) {
  compare(check, [&](Device device) { return run_loss(device, loss, check); });
}

void needs_every_barrier(const Op& op, const DeviceCheck& check) {
  miss_every_barrier([&](Device device) { return run_op(device, op, check); });
}

void loss_needs_every_barrier(const Loss& loss, const DeviceCheck& check) {
  miss_every_barrier([&](Device device) { return run_loss(device, loss, check); });
}

}  // namespace renar::test
