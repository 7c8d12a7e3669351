// learned_sums: sums over uses of every length, in one part and in many, against their definition.
#include "kernels/learned_sums.h"

#include <doctest/doctest.h>

#include <utility>

#include "kernels/gemm.h"
#include "tests/kernels/device_products.h"
#include "tests/support_device.h"

namespace renar {
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
  CHECK(weight_scratch(128, 128, 2) == 0);
  CHECK(weight_scratch(128, 128, 8192) == 256 * 128 * 128);
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

TEST_CASE("learned_sums: no barrier can be left out") {
  test::needs_every_barrier(weight_of(20, 24, 2), test::learned_numbers(20, 24, {300, 70}));
  test::needs_every_barrier(weight_of(40, 66, 2), test::learned_numbers(40, 66, {300, 70}));
  test::needs_every_barrier(weight_of(70, 66, 2), test::learned_numbers(70, 66, {300, 70}));
  test::needs_every_barrier(bias_of(24, 2), test::learned_numbers(0, 24, {300, 70}));
}

}  // namespace
}  // namespace renar
