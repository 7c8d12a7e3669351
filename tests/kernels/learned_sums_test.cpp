// learned_sums: sums over uses of every length, in one part and in many, against their definition.
#include "kernels/learned_sums.h"

#include <doctest/doctest.h>

#include <utility>

#include "kernels/gemm.h"
#include "tests/kernels/device_products.h"
#include "tests/support_device.h"

namespace renar::learned_sums_test {
namespace {

test::Op weight_of(std::int64_t in, std::int64_t out, std::size_t uses) {
  return test::learned_of(in, out, uses, [=](const Tensor& x, const Tensor& dy, Real* dw) {
    gemm_definition(in, out, dy.rows(), {x.data, 1, in}, {dy.data, out, 1}, dw,
                    {.accumulate = true});
  });
}

test::Op bias_of(std::int64_t out, std::size_t uses) {
  return test::learned_of(0, out, uses, [=](const Tensor&, const Tensor& dy, Real* db) {
    for (std::int64_t i = 0; i < dy.size(); ++i) db[i % out] += dy.data[i];
  });
}

const std::vector<std::int64_t> kUses[] = {
    {1}, {5, 64, 70}, {64}, {300, 1, 1, 129, 500}, std::vector<std::int64_t>(40, 16)};

TEST_CASE("learned_sums: the kernels add up a weight's uses, in parts where they are many") {
  CHECK(long_sum_scratch(128, 128, 2) == 0);
  CHECK(long_sum_scratch(128, 128, 8192) == 256 * 128 * 128);
  for (const std::vector<std::int64_t>& rows : kUses) {
    const std::pair<std::int64_t, std::int64_t> shapes[] = {{1, 1},   {33, 65}, {5, 40},   {66, 3},
                                                            {70, 60}, {70, 66}, {130, 128}};
    for (const auto& [in, out] : shapes) {
      CAPTURE(in);
      test::same_on_device(weight_of(in, out, rows.size()), test::learned_numbers(in, out, rows));
    }
  }
}

TEST_CASE("learned_sums: the kernels add up a bias's uses") {
  for (const std::vector<std::int64_t>& rows : kUses) {
    for (const std::int64_t out : {1, 31, 33, 128}) {
      test::same_on_device(bias_of(out, rows.size()), test::learned_numbers(0, out, rows));
    }
  }
}

// Of every size of tiles, more than one launch takes; every third weight has a bias. All have the
// same numbers for x and dy, of which they read as many as they need.
TEST_CASE("learned_sums: what a tape notes of many weights and biases is summed by a few kernels") {
  struct Learns {
    std::int64_t in, out;
  };
  std::vector<Learns> all;
  for (int i = 0; i < 60; ++i) all.push_back({1 + i * 7 % 140, 1 + i * 11 % 140});
  const std::int64_t rows[] = {70, 3, 129};
  test::DeviceCheck check;
  for (const auto& [in, out] : all) {
    check.inputs.push_back(test::Numbers::random({in, out}, 0));
    check.inputs.push_back(test::Numbers::random({out}, 0));
  }
  for (const std::int64_t r : rows) {
    check.constants.push_back(test::Numbers::random({r * 140}, static_cast<std::uint64_t>(r)));
  }
  const auto op = [&](Tape& tape, const test::Inputs& given) {
    const auto note = [&](std::size_t k, const Tensor& numbers, std::int64_t count) {
      const Tensor &w = given[2 * k], &b = given[2 * k + 1];
      const Real *x = numbers.data, *dy = numbers.data;
      const bool has_bias = k % 3 == 0;
      if (tape.device() != Device::kCpu) {
        learn_weight(tape, w, x, dy, count);
        if (has_bias) learn_bias(tape, b, dy, count);
        return;
      }
      tape.record(w, [=] {
        for (std::int64_t r = 0; r < count; ++r) {
          for (std::int64_t i = 0; i < w.size(); ++i) {
            w.grad[i] += x[r * w.dim(0) + i / w.dim(1)] * dy[r * w.dim(1) + i % w.dim(1)];
          }
          for (std::int64_t c = 0; has_bias && c < b.size(); ++c) b.grad[c] += dy[r * b.size() + c];
        }
      });
    };
    for (std::size_t u = 0; u < std::size(rows); ++u) {
      for (std::size_t k = 0; k < all.size(); ++k) note(k, given[2 * all.size() + u], rows[u]);
    }
    return given[0];
  };
  test::same_on_device(op, check);
}

TEST_CASE("learned_sums: no barrier can be left out" * doctest::skip(test::kSanitized)) {
  test::needs_every_barrier(weight_of(20, 24, 2), test::learned_numbers(20, 24, {300, 70}));
  test::needs_every_barrier(weight_of(40, 66, 2), test::learned_numbers(40, 66, {300, 70}));
  test::needs_every_barrier(weight_of(70, 66, 2), test::learned_numbers(70, 66, {300, 70}));
  test::needs_every_barrier(bias_of(24, 2), test::learned_numbers(0, 24, {300, 70}));
}

}  // namespace
}  // namespace renar::learned_sums_test
