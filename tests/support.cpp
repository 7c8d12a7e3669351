#include "tests/support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>

#include "core/rng.h"

namespace {

std::atomic<std::int64_t> allocation_count{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocation_count;
  bytes = (std::max(bytes, alignment) + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// The other forms of new and delete call these; nothrow would be the sanitizer's own.
void* operator new(std::size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept try {
  return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace renar::test {
namespace {

constexpr std::size_t kGuards = 64;
constexpr Real kGuard = 12345;
constexpr std::int64_t kMostDifferences = 60;  // of one input

std::vector<Real> vector_of(const Real* data, std::int64_t count) { return {data, data + count}; }

// Gradients start at one instead of zero: backward must add to them.
constexpr Real kStart = 1;

std::vector<Tensor> tensors_of(std::vector<Numbers>& inputs) {
  std::vector<Tensor> tensors;
  for (Numbers& input : inputs) {
    tensors.push_back(input.tensor());
    std::fill_n(tensors.back().grad, tensors.back().size(), kStart);
  }
  return tensors;
}

// The arena gives whole cache lines, poisoned with ones: those past the end must still stand there.
void check_padding(const Real* data, std::int64_t count) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(data + count);
  const std::size_t used = static_cast<std::size_t>(count) * sizeof(Real);
  const std::size_t padding = (64 - used % 64) % 64;
  CHECK_MESSAGE(
      std::all_of(bytes, bytes + padding, [](unsigned char byte) { return byte == 0xff; }),
      "an op wrote past the end of its result");
}

// `difference(at)` is the central difference of entry `at` of an input with gradient `grad`.
void compare_with_differences(std::size_t input, const std::vector<Real>& grad,
                              const std::function<double(std::int64_t at)>& difference) {
  const std::int64_t size = static_cast<std::int64_t>(grad.size());
  const std::int64_t stride = std::max<std::int64_t>(1, size / kMostDifferences);
  for (std::int64_t at = 0; at < size; at += stride) {
    const double got = static_cast<double>(grad[static_cast<std::size_t>(at)] - kStart);
    const double want = difference(at);
    const double allowed = 1e-5 * std::max(std::abs(got), std::abs(want)) + 1e-9;
    if (std::abs(got - want) <= allowed) continue;
    FAIL_CHECK("gradient of input ", input, " at ", at, " is ", got, ", by differences ", want);
    return;
  }
}

// Calls evaluate() with entry `at` of x moved up and down; returns {up, down, distance}.
template <class Evaluate>
auto moved(const Tensor& x, std::int64_t at, const Evaluate& evaluate) {
  const Real middle = x.data[at], step = Real(1e-5) * std::max(Real{1}, std::abs(middle));
  const Real above = middle + step, below = middle - step;
  x.data[at] = above;
  const auto up = evaluate();
  x.data[at] = below;
  const auto down = evaluate();
  x.data[at] = middle;
  return std::tuple{up, down, static_cast<double>(above - below)};
}

}  // namespace

std::int64_t allocations() { return allocation_count; }

std::vector<Real> random_values(std::int64_t count, std::uint64_t seed) {
  struct Stream {
    explicit Stream(std::uint64_t seed) : rng(seed, Purpose::kInitialisation, 0, 0) {}
    CounterRng rng;
    std::vector<Real> values;
  };
  // To draw them anew for each of a test's many sizes took as long as what is tested.
  thread_local std::map<std::uint64_t, Stream> streams;
  auto& [rng, drawn] = streams.try_emplace(seed, seed).first->second;
  while (static_cast<std::int64_t>(drawn.size()) < count) {
    drawn.push_back(static_cast<Real>(rng.normal()));
  }
  return {drawn.begin(), drawn.begin() + count};
}

Numbers::Numbers(Shape shape, const std::vector<Real>& values) : shape_(shape) {
  REQUIRE(static_cast<std::int64_t>(values.size()) == shape.size());
  values_.assign(values.size() + 2 * kGuards, kGuard);
  grad_ = values_;
  std::copy(values.begin(), values.end(), values_.begin() + kGuards);
  std::fill_n(grad_.begin() + kGuards, values.size(), Real{0});
}

Numbers Numbers::random(Shape shape, std::uint64_t seed) {
  return Numbers(shape, random_values(shape.size(), seed));
}

Tensor Numbers::tensor() { return {values_.data() + kGuards, grad_.data() + kGuards, shape_}; }
Tensor Numbers::data() { return {values_.data() + kGuards, nullptr, shape_}; }

std::vector<Real> Numbers::inside(const std::vector<Real>& guarded) const {
  return {guarded.begin() + kGuards, guarded.end() - kGuards};
}

void Numbers::check_guards() const {
  for (const std::vector<Real>* guarded : {&values_, &grad_}) {
    const auto is_guard = [](Real value) { return value == kGuard; };
    CHECK(std::all_of(guarded->begin(), guarded->begin() + kGuards, is_guard));
    CHECK(std::all_of(guarded->end() - kGuards, guarded->end(), is_guard));
  }
}

FreshTape::FreshTape(Tape::Mode mode, Device device) : tape(device) {
  static Real no_gradients = 0;
  tape.poison(true);
  tape.start(mode, nullptr, mode == Tape::Mode::kRecord ? &no_gradients : nullptr);
}

const Real* sent(Tape& tape, Real number) {
  Real* here = tape.host_array<Real>(1);
  *here = number;
  return tape.send<Real>(here, 1);
}

void check_same(const std::string& what, const std::vector<Real>& got,
                const std::vector<Real>& want, double tolerance) {
  REQUIRE_MESSAGE(got.size() == want.size(), what, ": sizes ", got.size(), " and ", want.size());
  double largest = 1;
  for (const Real value : want) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;
    if (std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])) <= tolerance * largest)
      continue;
    FAIL_CHECK(what, " at ", i, " is ", got[i], ", expected ", want[i]);
    return;
  }
  CHECK(true);
}

void check_values(const Tensor& got, const std::vector<Real>& want, double tolerance) {
  check_same("value", vector_of(got.data, got.size()), want, tolerance);
  check_padding(got.data, got.size());
}

void run_backward(Tape& tape, const Tensor& y, const std::vector<Real>& dy) {
  REQUIRE(y.has_grad());
  REQUIRE(static_cast<std::int64_t>(dy.size()) == y.size());
  std::copy(dy.begin(), dy.end(), y.grad);
  tape.backward();
  check_padding(y.data, y.size());
  check_padding(y.grad, y.size());
}

void check_gradient(const Op& op, std::vector<Numbers> inputs) {
  const Inputs x = tensors_of(inputs);
  FreshTape fresh;
  const Tensor y = op(fresh.tape, x);
  const std::vector<Real> dy = random_values(y.size(), 99);
  run_backward(fresh.tape, y, dy);
  FreshTape scratch(Tape::Mode::kPredict);
  const auto evaluate = [&] {
    scratch.tape.start(Tape::Mode::kPredict, nullptr, nullptr);
    const Tensor result = op(scratch.tape, x);
    return vector_of(result.data, result.size());
  };
  for (std::size_t k = 0; k < x.size(); ++k) {
    compare_with_differences(k, inputs[k].grad(), [&](std::int64_t at) {
      const auto [up, down, distance] = moved(x[k], at, evaluate);
      double sum = 0;
      for (std::size_t i = 0; i < dy.size(); ++i) {
        sum += static_cast<double>(dy[i]) * static_cast<double>(up[i] - down[i]);
      }
      return sum / distance;
    });
    inputs[k].check_guards();
  }
}

void check_loss_gradient(const Loss& loss, std::vector<Numbers> inputs) {
  const Inputs x = tensors_of(inputs);
  const auto evaluate = [&] {
    FreshTape scratch(Tape::Mode::kPredict);
    double sum = 0;
    loss(scratch.tape, x, sum);
    return sum;
  };
  FreshTape fresh;
  double sum = 0;
  loss(fresh.tape, x, sum);
  fresh.tape.backward();
  for (std::size_t k = 0; k < x.size(); ++k) {
    compare_with_differences(k, inputs[k].grad(), [&](std::int64_t at) {
      const auto [up, down, distance] = moved(x[k], at, evaluate);
      return (up - down) / distance;
    });
    inputs[k].check_guards();
  }
}

void same_value_and_gradient(const Op& fused, const Op& composed, std::vector<Numbers> inputs,
                             double tolerance) {
  std::vector<Numbers> others = inputs;
  FreshTape a, b;
  const Tensor y = fused(a.tape, tensors_of(inputs));
  const Tensor z = composed(b.tape, tensors_of(others));
  CHECK(y.shape.text() == z.shape.text());
  check_values(y, vector_of(z.data, z.size()), tolerance);
  const std::vector<Real> dy = random_values(y.size(), 98);
  run_backward(a.tape, y, dy);
  run_backward(b.tape, z, dy);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    check_same("gradient of input " + std::to_string(k), inputs[k].grad(), others[k].grad(),
               tolerance);
    inputs[k].check_guards();
  }
}

Numbers random_adjacency(std::int64_t batch, std::int64_t nodes, std::uint64_t seed) {
  std::vector<Real> values = random_values(batch * nodes * nodes, seed);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool deaf = i % static_cast<std::size_t>(nodes) == 1;  // receiver 1 hears nobody
    values[i] = values[i] > 0 && !deaf ? Real{1} : Real{0};
  }
  return Numbers({batch, nodes, nodes}, values);
}

Numbers coarse(Shape shape, std::uint64_t seed) {
  std::vector<Real> values = random_values(shape.size(), seed);
  for (Real& value : values) value = std::round(2 * value) / 2;
  return Numbers(shape, values);
}

}  // namespace renar::test
