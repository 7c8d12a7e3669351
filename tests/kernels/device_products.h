// What the tests of a device's products share, whatever their precision.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/learned_sums.h"
#include "kernels/products.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::test {

/// The table of `count` uses, on the device and here; given are x and dy of each.
inline std::pair<Uses, const Use*> uses_of(Tape& tape, const Inputs& given, std::size_t count) {
  const auto size = static_cast<std::int64_t>(count);
  Use* table = tape.host_array<Use>(size);
  std::int64_t strides = 0;
  for (std::size_t u = 0; u < count; ++u) {
    const Tensor &x = given[2 * u], &dy = given[2 * u + 1];
    table[u] = {x.data, dy.data, dy.rows(), strides};
    strides += strides_of(dy.rows());
  }
  return {{tape.send<Use>(table, size), size, strides}, table};
}

/// What a weight (in, out), or a bias (out) where `in` is 0, learns from its uses; learned_numbers
/// are for it. On the CPU add_use(x, dy, to) says it, for one use. Input: what has the sum for
/// gradient. Constants: x and dy of each use.
template <class AddUse>
Op learned_of(std::int64_t in, std::int64_t out, std::size_t uses, AddUse add_use,
              Precision precision = Precision::kFp32) {
  return [=](Tape& tape, const Inputs& given) {
    const Tensor& learned = given[0];
    if (tape.device() == Device::kCpu) {
      tape.record(learned, [=, of_uses = given.data() + 1] {
        for (std::size_t u = 0; u < uses; ++u) {
          add_use(of_uses[2 * u], of_uses[2 * u + 1], learned.grad);
        }
      });
      return learned;
    }
    const auto [all, here] = uses_of(tape, {given.begin() + 1, given.end()}, uses);
    Real* scratch = tape.array<Real>(long_sum_scratch(in, out, all.strides));
    const LongSum sum{in, out, all, here, scratch, learned.grad};
    tape.record(learned, [=] { add_long_sums({&sum, 1}, precision); });
    return learned;
  };
}
inline DeviceCheck learned_numbers(std::int64_t in, std::int64_t out,
                                   const std::vector<std::int64_t>& rows,
                                   double tolerance = kRounding) {
  DeviceCheck check{.inputs = {Numbers::random({std::max<std::int64_t>(in, 1), out}, 0)},
                    .tolerance = tolerance};
  std::uint64_t seed = 1;
  for (const std::int64_t r : rows) {
    check.constants.push_back(Numbers::random({r, std::max<std::int64_t>(in, 1)}, seed++));
    check.constants.push_back(Numbers::random({r, out}, seed++));
  }
  return check;
}

/// Fails unless equal rows of x give bit-equal rows of y = x w.
inline void check_equal_rows(Device device, std::int64_t rows, std::int64_t in, std::int64_t out,
                             Precision precision) {
  const std::vector<Real> row = random_values(in, 1), w = random_values(in * out, 2);
  FreshTape fresh(Tape::Mode::kPredict, device);
  Real* host = fresh.tape.host_array<Real>(rows * in + in * out);
  for (std::int64_t i = 0; i < rows; ++i) std::copy(row.begin(), row.end(), host + i * in);
  std::copy(w.begin(), w.end(), host + rows * in);
  const Real* there = fresh.tape.send<Real>(host, rows * in + in * out);
  Real* y = fresh.tape.array<Real>(rows * out);
  add_products({.rows = rows,
                .out = out,
                .y = y,
                .terms = 1,
                .term = {{there, there + rows * in, in}},
                .precision = precision});
  const Real* got = fresh.tape.fetch(y, rows * out);
  std::int64_t others = 0;
  for (std::int64_t i = 1; i < rows; ++i) {
    others += std::memcmp(got, got + i * out, static_cast<std::size_t>(out) * sizeof(Real)) != 0;
  }
  CHECK(others == 0);
}

}  // namespace renar::test
