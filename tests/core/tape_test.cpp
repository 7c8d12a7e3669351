// Autograd over a small recurrence h' = relu(h W + x V), with and without marked steps.
#include "core/tape.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "kernels/carry.h"
#include "kernels/linear.h"
#include "kernels/pointwise.h"
#include "kernels/squared_error.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::tape_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

constexpr std::int64_t kRows = 5, kHidden = 7, kRaw = 3;

enum class Steps { kMarked, kOneGraph };

// Inputs: h (R,H), W (H,H), V (K,H), then one x (R,K) a step. The last h is the result.
test::Op recurrence(Steps steps) {
  return [steps](Tape& tape, const Inputs& in) {
    Tensor h = in[0];
    for (std::size_t t = 3; t < in.size(); ++t) {
      if (steps == Steps::kMarked) tape.begin_step();
      const Tensor sum = linear(tape, {{h, in[1]}, {in[t], in[2]}}, {});
      h = relu(tape, sum);
      if (steps == Steps::kMarked) {
        h = carry(tape, h);
        tape.end_step();
      }
    }
    return h;
  };
}

std::vector<Numbers> recurrence_inputs() {
  std::vector<Numbers> inputs = {Numbers::random({kRows, kHidden}, 1),
                                 Numbers::random({kHidden, kHidden}, 2),
                                 Numbers::random({kRaw, kHidden}, 3)};
  for (std::uint64_t step = 0; step < 3; ++step) {
    inputs.push_back(Numbers::random({kRows, kRaw}, 4 + step));
  }
  return inputs;
}

TEST_CASE("tape: steps that share their scratch give the gradients of one graph, bit by bit") {
  test::same_value_and_gradient(recurrence(Steps::kMarked), recurrence(Steps::kOneGraph),
                                recurrence_inputs(), 0);
}

TEST_CASE("tape: gradients through carried steps" * doctest::skip(test::kFloatBuild)) {
  test::check_gradient(recurrence(Steps::kMarked), recurrence_inputs());
  test::check_gradient(recurrence(Steps::kOneGraph), recurrence_inputs());
}

TEST_CASE("tape: two uses of one tensor add up, and a second backward pass needs a new start") {
  Numbers x({1, 2}, {1, -2}), w({2, 1}, {3, 5}), v({2, 1}, {7, 11});
  FreshTape fresh;
  // y = x w + x v, so dx = w + v.
  const Tensor y = linear(fresh.tape, {{x.tensor(), w.tensor()}, {x.tensor(), v.tensor()}}, {});
  CHECK(y.data[0] == 1 * 3 - 2 * 5 + 1 * 7 - 2 * 11);
  test::run_backward(fresh.tape, y, {1});
  CHECK(x.grad() == std::vector<Real>{10, 16});
  CHECK(w.grad() == std::vector<Real>{1, -2});

  fresh.tape.start(Tape::Mode::kRecord, nullptr, w.tensor().grad);
  fresh.tape.backward();  // nothing recorded: nothing moves
  CHECK(x.grad() == std::vector<Real>{10, 16});
}

TEST_CASE("tape: where no input has a gradient nothing is recorded") {
  Numbers x = Numbers::random({2, 3}, 1);
  FreshTape fresh;
  const Tensor y = relu(fresh.tape, x.data());
  CHECK_FALSE(y.has_grad());
  int runs = 0;
  fresh.tape.record(y, [count = &runs] { ++*count; });
  fresh.tape.record(relu(fresh.tape, x.tensor()), [count = &runs] { ++*count; });
  CHECK_FALSE(fresh.tape.constant({2}).has_grad());
  fresh.tape.begin_step();
  CHECK_FALSE(carry(fresh.tape, x.data()).has_grad());
  fresh.tape.end_step();
  fresh.tape.backward();
  CHECK(runs == 1);
}

TEST_CASE("tape: predicting records nothing and every step uses the same memory") {
  Numbers x = Numbers::random({40, 30}, 1);
  FreshTape fresh(Tape::Mode::kPredict);
  Tape& tape = fresh.tape;
  CHECK_FALSE(tape.recording());
  tape.begin_step();
  const Tensor first = relu(tape, x.tensor());
  const Tensor kept = carry(tape, first);
  tape.end_step();
  tape.begin_step();
  const Tensor second = sigmoid(tape, x.tensor());
  sigmoid(tape, x.tensor());  // stands where a carry in the scratch would have stood
  tape.end_step();
  CHECK(first.data == second.data);
  CHECK_FALSE(first.has_grad());
  for (std::int64_t i = 0; i < kept.size(); ++i)
    CHECK(kept.data[i] == std::max(x.data().data[i], Real{0}));
  int runs = 0;
  tape.record_loss([count = &runs] { ++*count; });
  tape.backward();
  CHECK(runs == 0);
}

TEST_CASE("tape: what is fetched takes no more room with every step") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  FreshTape fresh(Tape::Mode::kPredict, *device);
  Tape& tape = fresh.tape;
  constexpr std::int64_t kMany = 1 << 18;  // a megabyte of floats, the arena's first block
  std::size_t bytes = 0;
  for (int step = 0; step < 4; ++step) {
    tape.begin_step();
    const Tensor x = tape.constant({kMany});
    fill_bytes(*device, x.data, 0, kMany * sizeof(Real));
    CHECK(tape.fetch(x.data, kMany)[kMany - 1] == 0);
    tape.end_step();
    if (step == 0) bytes = tape.bytes();
  }
  CHECK(tape.bytes() == bytes);
}

TEST_CASE("tape: parameters are used in place, with a gradient only when recording") {
  std::vector<Real> values = {1, 2, 3, 4}, grads(4);
  const Param param{1, {1, 3}};
  Tape tape;
  tape.start(Tape::Mode::kRecord, values.data(), grads.data());
  CHECK(tape.recording());
  CHECK(tape.use(param).data == &values[1]);
  CHECK(tape.use(param).grad == &grads[1]);
  CHECK(tape.use(param).shape == Shape{1, 3});
  tape.start(Tape::Mode::kPredict, values.data(), grads.data());
  CHECK(tape.use(param).grad == nullptr);
  CHECK_THROWS_AS(tape.start(Tape::Mode::kRecord, values.data(), nullptr), Error);
}

TEST_CASE("tape: a loss inside a step starts gradients") {
  Numbers x({2}, {1, -2});
  const std::vector<Real> truth = {0, 0};
  FreshTape fresh;
  double sum = 0;
  fresh.tape.begin_step();
  const Tensor y = relu(fresh.tape, x.tensor());
  squared_error(fresh.tape, y, truth.data(), test::sent(fresh.tape, Real{0.5}), sum);
  fresh.tape.end_step();
  fresh.tape.backward();
  CHECK(sum == 0.5);                           // 0.5 * (1^2 + 0^2)
  CHECK(x.grad() == std::vector<Real>{1, 0});  // 0.5 * 2 * 1
}

TEST_CASE("tape: repeated trajectories allocate nothing and give the same bits") {
  std::vector<Numbers> inputs = {Numbers::random({300, 128}, 1), Numbers::random({128, 128}, 2),
                                 Numbers::random({300, 3}, 3)};
  Numbers v = Numbers::random({3, 128}, 4);
  const Inputs in = {inputs[0].tensor(), inputs[1].data(), v.data(),
                     inputs[2].data(),   inputs[2].data(), inputs[2].data(),
                     inputs[2].data(),   inputs[2].data(), inputs[2].data()};
  const test::Op op = recurrence(Steps::kMarked);
  Tape tape;
  Real no_gradients = 0;
  std::vector<Real> first_gradient;
  const auto trajectory = [&] {
    std::fill_n(in[0].grad, in[0].size(), Real{0});
    tape.start(Tape::Mode::kRecord, nullptr, &no_gradients);
    const Tensor y = op(tape, in);
    std::fill_n(y.grad, y.size(), Real{1});
    tape.backward();
  };
  trajectory();  // grows block by block
  first_gradient = inputs[0].grad();
  trajectory();  // the blocks were joined at its start
  const std::size_t bytes = tape.bytes();
  const std::int64_t before = test::allocations();
  trajectory();
  trajectory();
  CHECK(test::allocations() == before);
  CHECK(tape.bytes() == bytes);
  CHECK(inputs[0].grad() == first_gradient);
}

}  // namespace
}  // namespace renar::tape_test
