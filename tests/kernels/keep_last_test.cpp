// keep_last by hand, what it leaves alone, its gradient, and the kernel.
#include "kernels/keep_last.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "kernels/pointwise.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::keep_last_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("keep_last: the chosen samples are held, step after step, and get what held gets") {
  Numbers first({3, 2}, {1, 2, 3, 4, 5, 6}), second({2, 2}, {7, 8, 9, 10});
  const std::uint8_t at_first[] = {0, 0, 1}, at_second[] = {1, 1};
  FreshTape fresh;
  const Tensor held = fresh.tape.output({3, 2}, true);
  keep_last(fresh.tape, {{first.tensor(), held}}, at_first);
  keep_last(fresh.tape, {{second.tensor(), held}}, at_second);  // the third has dropped out
  test::check_values(held, {7, 8, 9, 10, 5, 6}, 0);
  keep_last(fresh.tape, {{first.data(), held}}, at_first);  // no gradient: takes none away
  test::run_backward(fresh.tape, held, {1, 2, 3, 4, 5, 6});
  CHECK(first.grad() == std::vector<Real>{0, 0, 0, 0, 5, 6});
  CHECK(second.grad() == std::vector<Real>{1, 2, 3, 4});
}

TEST_CASE("keep_last: several tensors at once, some without gradients") {
  Numbers x({2, 1}, {1, 2}), y({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), z({2}, {9, 10});
  const std::uint8_t last[] = {0, 1};
  FreshTape fresh;
  const Tensor a = fresh.tape.output({2, 1}, true), b = fresh.tape.output({2, 2, 2}, true),
               c = fresh.tape.output({2}, false);
  for (const Tensor& held : {a, b, c}) std::fill_n(held.data, held.size(), Real{0});
  keep_last(fresh.tape, {{x.data(), a}, {y.tensor(), b}, {z.tensor(), c}}, last);
  test::check_values(a, {0, 2}, 0);
  test::check_values(b, {0, 0, 0, 0, 5, 6, 7, 8}, 0);
  test::check_values(c, {0, 10}, 0);
  test::run_backward(fresh.tape, b, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(y.grad() == std::vector<Real>{0, 0, 0, 0, 5, 6, 7, 8});
  CHECK(z.grad() == std::vector<Real>{0, 0});
}

TEST_CASE("keep_last: shapes that do not fit") {
  Numbers x({3, 2}, {1, 2, 3, 4, 5, 6});
  const std::uint8_t last[] = {1, 1, 1};
  FreshTape fresh;
  for (const Shape& shape : {Shape{2, 2}, {3, 3}, {3, 2, 1}}) {
    const Tensor held = fresh.tape.output(shape, true);
    CHECK_THROWS_AS(keep_last(fresh.tape, {{x.tensor(), held}}, last), Error);
  }
}

/// Two steps, of all samples and of the first half; whoever stops with the second is `later`.
Tensor two_steps(Tape& tape, const Inputs& in, const std::vector<std::uint8_t>& earlier,
                 const std::vector<std::uint8_t>& later) {
  const auto send = [&](const std::vector<std::uint8_t>& marks) {
    const auto count = static_cast<std::int64_t>(marks.size());
    std::uint8_t* here = tape.host_array<std::uint8_t>(count);
    std::copy(marks.begin(), marks.end(), here);
    return tape.send<std::uint8_t>(here, count);
  };
  const Tensor a = tape.output(in[0].shape, true), b = tape.output(in[1].shape, true);
  keep_last(tape, {{in[0], a}, {in[1], b}}, send(earlier));
  const auto half = static_cast<std::int64_t>(later.size());
  keep_last(tape, {{in[2].first(half), a}, {relu(tape, in[1].first(half)), b}}, send(later));
  return add(tape, relu(tape, a).reshaped({a.size()}), b.reshaped({b.size()}));
}

TEST_CASE("keep_last: the kernel does as the definition") {
  const std::vector<std::uint8_t> earlier = {0, 1, 0, 1, 1, 1}, later = {1, 0, 1};
  for (const Shape& shape : {Shape{6, 1}, {6, 3, 5}, {6, 20, 33}}) {
    test::same_on_device(
        [&](Tape& tape, const Inputs& in) { return two_steps(tape, in, earlier, later); },
        {.inputs = {Numbers::random(shape, 1), Numbers::random(shape, 2),
                    Numbers::random(shape, 3)}});
  }
}

TEST_CASE("keep_last: gradient" * doctest::skip(test::kFloatBuild)) {
  test::check_gradient(
      [&](Tape& tape, const Inputs& in) {
        return two_steps(tape, in, {0, 1, 0, 1}, {1, 0, 1});
      },
      {Numbers::random({4, 3}, 1), Numbers::random({4, 3}, 2), Numbers::random({4, 3}, 3)});
}

}  // namespace
}  // namespace renar::keep_last_test
