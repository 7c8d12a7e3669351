// dropout: what it keeps and how often, and that this depends on its key alone.
#include "kernels/dropout.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "core/check.h"
#include "core/rng.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::dropout_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

constexpr std::array kPlaces = {0, 1, 2, 3};

/// What becomes of `count` ones in each of the samples `places`.
Values dropped_ones(std::int64_t count, double rate, DropoutKey key, std::vector<int> places) {
  const auto batch = static_cast<std::int64_t>(places.size());
  Numbers x({batch, count}, Values(static_cast<std::size_t>(batch * count), 1));
  FreshTape fresh;
  key.samples = places.data();
  const Tensor y = dropout(fresh.tape, x.data(), rate, key);
  return {y.data, y.data + y.size()};
}

TEST_CASE("dropout: kept elements are scaled, and pass the gradient that the others stop") {
  Numbers x({4, 3, 2}, Values(24, 6));
  x.data().data[0] = x.data().data[5] = 0;  // whether it was kept is not read from y
  FreshTape fresh;
  const DropoutKey key{.seed = 1, .samples = kPlaces.data()};
  const Tensor y = dropout(fresh.tape, x.tensor(), 0.25, key);
  std::vector<Real> dy(24), dx;
  for (std::size_t at = 0; at < 24; ++at) dy[at] = static_cast<Real>(3 * at + 3);
  CounterRng rng(derived_seed(1, Purpose::kDropout, 0, 0), Purpose::kDropout, 0, 0);
  for (std::size_t at = 0; at < 6; ++at) {  // of the first sample
    const bool kept = rng.next() >= 0x40000000;
    const Real value = at == 0 || at == 5 ? 0 : 6;
    CHECK(y.data[at] == (kept ? doctest::Approx(value / 0.75) : doctest::Approx(0)));
    dx.push_back(kept ? static_cast<Real>(4 * at + 4) : 0);
  }
  test::run_backward(fresh.tape, y, dy);
  const Values grad = x.grad();
  test::check_same("dx", Values(grad.begin(), grad.begin() + 6), dx, 1e-6);
}

TEST_CASE("dropout: rate 0 is the identity and leaves no trace on the tape") {
  Numbers x = Numbers::random({2, 3}, 1);
  FreshTape fresh;
  const Tensor in = x.tensor(), y = dropout(fresh.tape, in, 0, {.seed = 1});
  CHECK(y.data == in.data);
  CHECK(y.grad == in.grad);
  CHECK(fresh.tape.bytes() == 0);
}

TEST_CASE("dropout: of a million elements the share of the rate is dropped") {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const Values y = dropped_ones(250000, rate, {.seed = 5}, {0, 1, 2, 3});
    double kept = 0, sum = 0;
    for (const Real value : y) {
      kept += value != 0;
      sum += double{value};
    }
    CHECK(std::abs(kept / 1e6 - (1 - rate)) < 4 * std::sqrt(rate * (1 - rate) / 1e6));
    CHECK(sum / 1e6 == doctest::Approx(1).epsilon(0.02));
  }
}

TEST_CASE("dropout: every part of the key counts") {
  const DropoutKey key{.seed = 7, .update = 3, .step = 2};
  const Values plain = dropped_ones(64, 0.5, key, {1});
  CHECK(dropped_ones(64, 0.5, key, {1}) == plain);
  for (const DropoutKey& other : {DropoutKey{8, 3, 2}, DropoutKey{7 | std::uint64_t{1} << 32, 3, 2},
                                  DropoutKey{7, 2, 3}, DropoutKey{7, 4, 2}, DropoutKey{7, 3, 1}}) {
    CHECK(dropped_ones(64, 0.5, other, {1}) != plain);
  }
  CHECK(dropped_ones(64, 0.5, key, {2}) != plain);
  CHECK(dropped_ones(64, 0.5, {.seed = 7, .update = 1, .step = 2}, {3}) != plain);
}

TEST_CASE("dropout: a sample's draws do not depend on its company or its place in the shard") {
  const DropoutKey key{.seed = 7, .update = 3, .step = 2};
  const Values together = dropped_ones(40, 0.3, key, {5, 0, 9});
  Values apart;
  for (const int place : {5, 0, 9}) {
    const Values alone = dropped_ones(40, 0.3, key, {place});
    apart.insert(apart.end(), alone.begin(), alone.end());
  }
  CHECK(together == apart);
  const Values shorter = dropped_ones(10, 0.3, key, {5});
  CHECK(Values(together.begin(), together.begin() + 10) == shorter);
}

TEST_CASE("dropout: the kernels drop the same elements as the definition") {
  constexpr std::array kOthers = {7, 0, 4000000};
  std::vector<test::Extents> sizes(std::begin(test::kExtents), std::end(test::kExtents));
  sizes.push_back({1, 64, 33});
  for (const test::Extents& e : sizes) {
    for (const double rate : {0.1, 0.5}) {
      test::same_on_device(
          [=](Tape& tape, const Inputs& in) {
            return dropout(tape, in[0], rate,
                           {.seed = 9, .update = 4, .step = 3, .samples = kOthers.data()});
          },
          {.inputs = {Numbers::random({e.batch, e.nodes, e.hidden}, 1)}});
    }
  }
}

TEST_CASE("dropout: gradients" * doctest::skip(test::kFloatBuild)) {
  test::check_gradient(
      [](Tape& tape, const Inputs& in) {
        return dropout(tape, in[0], 0.3, {.seed = 2, .update = 1, .samples = kPlaces.data()});
      },
      {Numbers::random({3, 4, 5}, 1)});
}

TEST_CASE("dropout: a rate outside of [0, 1) is refused") {
  Numbers x = Numbers::random({1, 3}, 1);
  FreshTape fresh;
  for (const double rate : {-0.1, 1.0, 1.5, std::nan("")}) {
    CHECK_THROWS_AS(dropout(fresh.tape, x.tensor(), rate, {.samples = kPlaces.data()}), Error);
  }
}

}  // namespace
}  // namespace renar::dropout_test
