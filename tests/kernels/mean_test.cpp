// mean by hand, its gradient, and shapes that differ.
#include "kernels/mean.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::mean_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("mean: of three by hand; one is its own") {
  Numbers a({2}, {1, 2}), b({2}, {3, 6}), c({2}, {-1, 10});
  FreshTape fresh;
  const Tensor all[] = {a.tensor(), b.tensor(), c.tensor()};
  mean(fresh.tape, all, 3);  // gets no gradient: takes none away
  const Tensor y = mean(fresh.tape, all, 3);
  test::check_values(y, {1, 6});
  test::run_backward(fresh.tape, y, {3, 6});
  for (const Numbers* x : {&a, &b, &c}) test::check_same("dx", x->grad(), {1, 2});
  CHECK(mean(fresh.tape, all, 1).data == all[0].data);
}

TEST_CASE("mean: refuses what has no mean") {
  Numbers a({2}, {1, 2}), b({1, 2}, {3, 6});
  FreshTape fresh;
  const Tensor all[] = {a.tensor(), b.tensor()};
  CHECK_THROWS_AS(mean(fresh.tape, all, 2), Error);
  CHECK_THROWS_AS(mean(fresh.tape, all, 0), Error);
}

TEST_CASE("mean: the kernels do as the definition") {
  for (const int count : {1, 2, 3, 10}) {
    for (const Shape& shape : {Shape{1}, {3, 2, 33}, {1, 20, 128}}) {
      test::DeviceCheck check{.inputs = {}, .constants = {Numbers::random(shape, 100)}};
      for (int k = 1; k < count; ++k) {
        check.inputs.push_back(Numbers::random(shape, static_cast<std::uint64_t>(k)));
      }
      test::same_on_device(
          [&](Tape& tape, const Inputs& in) {
            Tensor* all = tape.host_array<Tensor>(count);
            std::copy_n(in.data(), count, all);
            return mean(tape, all, count);
          },
          check);
    }
  }
}

TEST_CASE("mean: gradient, data among the tensors too" * doctest::skip(test::kFloatBuild)) {
  Numbers data = Numbers::random({4, 3}, 3);
  test::check_gradient(
      [&](Tape& tape, const Inputs& in) {
        Tensor* all = tape.array<Tensor>(3);
        all[0] = in[0], all[1] = data.data(), all[2] = in[1];
        return mean(tape, all, 3);
      },
      {Numbers::random({4, 3}, 1), Numbers::random({4, 3}, 2)});
}

}  // namespace
}  // namespace renar::mean_test
