// learned_sums: sums over uses of every length, in one part and in many, against their definition.
#include "kernels/learned_sums.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "kernels/gemm.h"
#include "tests/kernels/device_products.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar {
namespace {

using test::Inputs;
using test::Numbers;

// Constants: x and dy of each use. Input: what has the sum for gradient; `in` = 0: a bias.
test::Op learned_of(std::int64_t in, std::int64_t out, std::size_t uses) {
  return [=](Tape& tape, const Inputs& given) {
    const Tensor& learned = given[0];
    if (tape.device() == Device::kCpu) {
      tape.record(learned, [=, of_uses = given.data() + 1] {
        for (std::size_t u = 0; u < uses; ++u) {
          const Tensor &x = of_uses[2 * u], &dy = of_uses[2 * u + 1];
          if (in > 0) {
            gemm_definition(in, out, dy.rows(), {x.data, 1, in}, {dy.data, out, 1}, learned.grad,
                            {.accumulate = true});
          }
          for (std::int64_t i = 0; in == 0 && i < dy.size(); ++i) {
            learned.grad[i % out] += dy.data[i];
          }
        }
      });
      return learned;
    }
    const Uses all = test::uses_of(tape, {given.begin() + 1, given.end()}, uses);
    Real* scratch = tape.array<Real>(in > 0 ? weight_scratch(in, out, all.strides)
                                            : bias_scratch(out, all.strides));
    tape.record(learned, [=] {
      in > 0 ? add_to_weight(in, out, all, scratch, learned.grad)
             : add_to_bias(out, all, scratch, learned.grad);
    });
    return learned;
  };
}
test::DeviceCheck learned_numbers(std::int64_t in, std::int64_t out,
                                  const std::vector<std::int64_t>& rows) {
  test::DeviceCheck check{.inputs = {Numbers::random({std::max<std::int64_t>(in, 1), out}, 0)}};
  std::uint64_t seed = 1;
  for (const std::int64_t r : rows) {
    check.constants.push_back(Numbers::random({r, std::max<std::int64_t>(in, 1)}, seed++));
    check.constants.push_back(Numbers::random({r, out}, seed++));
  }
  return check;
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
      test::same_on_device(learned_of(in, out, rows.size()), learned_numbers(in, out, rows));
    }
  }
}

TEST_CASE("learned_sums: the kernels add up a bias's uses") {
  for (const std::vector<std::int64_t>& rows : kUses) {
    for (const std::int64_t out : {1, 31, 33, 128}) {
      test::same_on_device(learned_of(0, out, rows.size()), learned_numbers(0, out, rows));
    }
  }
}

TEST_CASE("learned_sums: no barrier can be left out") {
  test::needs_every_barrier(learned_of(20, 24, 2), learned_numbers(20, 24, {300, 70}));
  test::needs_every_barrier(learned_of(40, 66, 2), learned_numbers(40, 66, {300, 70}));
  test::needs_every_barrier(learned_of(70, 66, 2), learned_numbers(70, 66, {300, 70}));
  test::needs_every_barrier(learned_of(0, 24, 2), learned_numbers(0, 24, {300, 70}));
}

}  // namespace
}  // namespace renar
