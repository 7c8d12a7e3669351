// Two steps of adam by hand, the clip factor, the norm.
#include "kernels/adam.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::adam_test {
namespace {

constexpr double kExact = test::kFloatBuild ? 2e-7 : 1e-14;

/// Values and moments after an update by gradients that are scaled by `scale`.
void adam(std::int64_t size, const AdamStep& step, double scale, const Real* grads, Real* values,
          Real* m, Real* v) {
  const AdamFactors factors = adam_factors(step);
  const Clip clip{.norm = 1, .scale = scale};
  clipped_adam(Device::kCpu, size, &factors, &clip, grads, values, m, v);
}

Clip clip_of(const std::vector<Real>& grads, double max_norm) {
  Clip clip;
  measure_clip(Device::kCpu, static_cast<std::int64_t>(grads.size()), grads.data(),
               {.max_norm = max_norm}, nullptr, &clip);
  return clip;
}

TEST_CASE("adam: two steps by hand") {
  // Gradient 2, then 1, learning rate 0.1, start at 1:
  //   t = 1: m = 0.1 * 2 = 0.2, v = 0.001 * 4 = 0.004; m / 0.1 = 2, v / 0.001 = 4: moves 0.1 * 2 /
  //   2 = 0.1 t = 2: m = 0.9 * 0.2 + 0.1 = 0.28, v = 0.999 * 0.004 + 0.001 = 0.004996
  //          m / (1 - 0.81) = 1.4736842..., v / (1 - 0.998001) = 2.4992496...
  std::vector<Real> values = {1}, m = {0}, v = {0}, grads = {2};
  adam(1, {.step = 1, .learning_rate = 0.1}, 1, grads.data(), values.data(), m.data(), v.data());
  test::check_same("m", m, {Real(0.2)}, kExact);
  CHECK(static_cast<double>(v[0]) == doctest::Approx(0.004).epsilon(kExact));
  const double first = 1 - 0.1 * 2 / (2 + 1e-8);  // 0.9 but for the epsilon
  test::check_same("value", values, {static_cast<Real>(first)}, kExact);
  grads = {1};
  adam(1, {.step = 2, .learning_rate = 0.1}, 1, grads.data(), values.data(), m.data(), v.data());
  test::check_same("m", m, {Real(0.28)}, kExact);
  CHECK(static_cast<double>(v[0]) == doctest::Approx(0.004996).epsilon(kExact));
  const double moved = 0.1 * (0.28 / 0.19) / (std::sqrt(0.004996 / 0.001999) + 1e-8);
  test::check_same("value", values, {static_cast<Real>(first - moved)}, kExact);
}

TEST_CASE("adam: the clip factor scales the gradient before the moments") {
  for (const std::int64_t size : {1, 7, 64, 1000}) {
    const std::vector<Real> grads = test::random_values(size, 1);
    std::vector<Real> halves = grads, values = test::random_values(size, 2), others = values;
    for (Real& g : halves) g /= 2;
    const std::size_t count = static_cast<std::size_t>(size);
    std::vector<Real> m(count), v(count), m2(count), v2(count);
    for (const std::int64_t step : {1, 2, 3}) {
      adam(size, {step, 0.01}, 0.5, grads.data(), values.data(), m.data(), v.data());
      adam(size, {step, 0.01}, 1, halves.data(), others.data(), m2.data(), v2.data());
    }
    CHECK(values == others);
    CHECK(m == m2);
    CHECK(v == v2);
  }
}

TEST_CASE("adam: a gradient of zero moves nothing, and the epsilon stands outside the root") {
  std::vector<Real> values = {3, 3}, m = {0, 0}, v = {0, 0}, grads = {0, Real(1e-8)};
  adam(2, {.step = 1, .learning_rate = 1}, 1, grads.data(), values.data(), m.data(), v.data());
  CHECK(values[0] == 3);
  CHECK(static_cast<double>(values[1]) == doctest::Approx(2.5));  // 1e-8 / (1e-8 + 1e-8)
}

TEST_CASE("adam: the norm of (3, 4, 12) is 13, and one above the largest is scaled to it") {
  const std::vector<Real> grads = {3, -4, 12};
  for (const double max_norm : {0.0, 13.0, 20.0, 6.5}) {
    CHECK(clip_of(grads, max_norm).norm == 13);
    CHECK(clip_of(grads, max_norm).scale == (max_norm == 6.5 ? 0.5 : 1));
  }
  CHECK(clip_of({}, 1).norm == 0);
  CHECK(clip_of({}, 1).scale == 1);
  const std::vector<Real> large(1000000, Real(0.1));  // a sum of a million squares keeps its digits
  CHECK(clip_of(large, 0).norm ==
        doctest::Approx(1000 * static_cast<double>(large[0])).epsilon(1e-9));
}

/// Values, moments (all 3 size numbers) after two updates by in[0] and in[1]; in[2] is the start.
Tensor moved_twice(Tape& tape, const test::Inputs& in, double max_norm) {
  const std::int64_t size = in[0].size();
  const Tensor all = tape.constant({3, size});
  queue_copy(tape.device(), all.data, in[2].data,
             static_cast<std::size_t>(all.size()) * sizeof(Real));
  double* scratch = tape.array<double>(kClipScratch);
  Clip* clip = tape.array<Clip>(1);
  for (const std::int64_t step : {1, 2}) {
    const Tensor grads = in[static_cast<std::size_t>(step - 1)];
    AdamFactors* factors = tape.host_array<AdamFactors>(1);
    *factors = adam_factors({.step = step, .learning_rate = 0.01});
    const AdamFactors* sent = tape.send(factors, 1);
    measure_clip(tape.device(), size, grads.data, {.max_norm = max_norm}, scratch, clip);
    clipped_adam(tape.device(), size, sent, clip, grads.data, all.data, all.data + size,
                 all.data + 2 * size);
  }
  return all;
}

/// Gradients of two steps, values and first moments; second moments, which are positive.
std::vector<test::Numbers> start_of(std::int64_t size) {
  std::vector<test::Numbers> all = {test::Numbers::random({size}, 1),
                                    test::Numbers::random({size}, 2),
                                    test::Numbers::random({3, size}, 3)};
  Real* v = all[2].data().data + 2 * size;
  for (std::int64_t i = 0; i < size; ++i) v[i] *= v[i];
  return all;
}

TEST_CASE("adam: the kernels do as the definition, clipped or not") {
  for (const std::int64_t size : {1, 3, 255, 257, 5000}) {
    for (const double max_norm : {0.0, 0.5, 1e6}) {
      test::same_on_device(
          [=](Tape& tape, const test::Inputs& in) { return moved_twice(tape, in, max_norm); },
          {.inputs = {}, .constants = start_of(size)});
    }
  }
}

TEST_CASE("adam: the kernels' norm and clip are the definition's") {
  for (const std::int64_t size : {0, 1, 200, 300, 70000}) {  // more than threads, too
    for (const bool scale : {false, true}) {
      const auto loss = [=](Tape& tape, const test::Inputs& in, double& sum) {
        Clip* clip = tape.array<Clip>(1);
        measure_clip(tape.device(), size, in[0].data, {.max_norm = 0.25},
                     tape.array<double>(kClipScratch), clip);
        queue_copy(tape.device(), &sum, scale ? &clip->scale : &clip->norm, sizeof(double));
      };
      test::same_loss_on_device(loss,
                                {.inputs = {}, .constants = {test::Numbers::random({size}, 4)}});
    }
  }
}

TEST_CASE("adam: clipped, it is an update by the gradient scaled to the largest norm") {
  const std::int64_t size = 40;
  std::vector<test::Numbers> start = start_of(size);
  test::FreshTape fresh;
  const Tensor got =
      moved_twice(fresh.tape, {start[0].data(), start[1].data(), start[2].data()}, 0.5);
  std::vector<Real> all = start[2].values();
  for (const std::int64_t step : {1, 2}) {
    std::vector<Real> grads = start[static_cast<std::size_t>(step - 1)].values();
    double squares = 0;
    for (const Real g : grads) squares += static_cast<double>(g) * static_cast<double>(g);
    REQUIRE(squares > 0.25);
    for (Real& g : grads) g *= static_cast<Real>(0.5 / std::sqrt(squares));
    adam(size, {.step = step, .learning_rate = 0.01}, 1, grads.data(), all.data(),
         all.data() + size, all.data() + 2 * size);
  }
  test::check_values(got, all, 0);
}

TEST_CASE("adam: a gradient that is not finite moves nothing, on the CPU and by the kernels") {
  using Limits = std::numeric_limits<Real>;
  for (const Real bad : {Limits::infinity(), Limits::quiet_NaN()}) {
    std::vector<test::Numbers> start = start_of(300);
    start[0].data().data[299] = start[1].data().data[7] = bad;
    const auto op = [](Tape& tape, const test::Inputs& in) { return moved_twice(tape, in, 0.5); };
    test::same_on_device(op, {.inputs = {}, .constants = start});
    test::FreshTape fresh;
    test::check_values(op(fresh.tape, {start[0].data(), start[1].data(), start[2].data()}),
                       start[2].values(), 0);
  }
}

TEST_CASE("adam: beside losses of which one is not finite no norm is; others change nothing") {
  using Limits = std::numeric_limits<double>;
  const test::Numbers grads = test::Numbers::random({300}, 4);
  for (const double loss : {1e300, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    for (const std::int64_t at : {0, 40, 255}) {
      std::vector<double> losses(kClipScratch, 2);
      losses[static_cast<std::size_t>(at)] = loss;
      const auto norm = [&](Tape& tape, const test::Inputs& in, double& sum) {
        Clip* clip = tape.array<Clip>(1);
        const double* sent = tape.send(losses.data(), kClipScratch);
        measure_clip(tape.device(), in[0].size(), in[0].data,
                     {.max_norm = 0.25, .losses = sent, .count = kClipScratch},
                     tape.array<double>(kClipScratch), clip);
        queue_copy(tape.device(), &sum, &clip->norm, sizeof sum);
      };
      if (std::isfinite(loss))
        test::same_loss_on_device(norm, {.inputs = {}, .constants = {grads}});
      for (const auto device : {std::optional(Device::kCpu), test::accelerator()}) {
        if (!device) continue;
        Tape tape(*device);
        tape.start(Tape::Mode::kPredict, nullptr, nullptr);
        const Tensor here = tape.host_constant({300});
        std::copy_n(grads.values().data(), 300, here.data);
        double* sum = tape.array<double>(1);
        norm(tape, {tape.send(here)}, *sum);
        CHECK(std::isfinite(*tape.fetch(sum, 1)) == std::isfinite(loss));
        if (loss == 1e300) CHECK(*tape.fetch(sum, 1) > 1);
      }
    }
  }
}

TEST_CASE("adam: no barrier can be left out") {
  test::needs_every_barrier(
      [](Tape& tape, const test::Inputs& in) { return moved_twice(tape, in, 0.5); },
      {.inputs = {}, .constants = start_of(600)});
}

}  // namespace
}  // namespace renar::adam_test
