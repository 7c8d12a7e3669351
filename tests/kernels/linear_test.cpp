// linear and edge_linear: sums of products, several biases, relu, and the edge form against its
// parts.
#include "kernels/linear.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "kernels/gemm.h"
#include "kernels/pointwise.h"
#include "tests/kernels/edge_add.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::linear_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("linear: two terms, two biases and relu by hand") {
  // row 0: (1,2) W + 3 V + biases = (1*1 + 2*3, 1*2 + 2*4) + (3*5, 3*-6) + (1, 1) = (23, -7) ->
  // (23, 0) row 1: (0,1) W + 0 V + biases = (3, 4) + (0, 0) + (1, 1)                      = (4, 5)
  Numbers x({2, 2}, {1, 2, 0, 1}), w({2, 2}, {1, 2, 3, 4}), u({2, 1}, {3, 0}), v({1, 2}, {5, -6});
  Numbers a({2}, {0, -1}), b({2}, {1, 2});
  FreshTape fresh;
  const Tensor y = linear(fresh.tape, {{x.tensor(), w.tensor()}, {u.tensor(), v.tensor()}},
                          {a.tensor(), b.tensor()}, Activation::kRelu);
  test::check_values(y, {23, 0, 4, 5}, 0);
  test::run_backward(fresh.tape, y, {1, 100, 10, 1});  // 100 is stopped by relu: dy = (1, 0; 10, 1)
  CHECK(x.grad() == std::vector<Real>{1, 3, 12, 34});  // dy W^T: (1, 3), (10 + 2, 30 + 4)
  CHECK(w.grad() == std::vector<Real>{1, 0, 12, 1});   // x^T dy: (1, 0), (2 + 10, 1)
  CHECK(u.grad() == std::vector<Real>{5, 44});         // dy V^T: 5, 50 - 6
  CHECK(v.grad() == std::vector<Real>{3, 0});          // u^T dy
  CHECK(a.grad() == std::vector<Real>{11, 1});
  CHECK(b.grad() == std::vector<Real>{11, 1});
}

TEST_CASE("linear: the leading axes are kept") {
  Numbers x = Numbers::random({2, 3, 4, 5}, 1), w = Numbers::random({5, 6}, 2);
  FreshTape fresh;
  CHECK(linear(fresh.tape, {{x.tensor(), w.tensor()}}, {}).shape == Shape{2, 3, 4, 6});
}

// Inputs: x, w, u, v, s, t and three biases.
std::vector<Numbers> three_terms(const test::Extents& e) {
  return {Numbers::random({e.batch, e.nodes, e.hidden}, 1),
          Numbers::random({e.hidden, 7}, 2),
          Numbers::random({e.batch, e.nodes, 2}, 3),
          Numbers::random({2, 7}, 4),
          Numbers::random({e.batch, e.nodes, 1}, 5),
          Numbers::random({1, 7}, 6),
          Numbers::random({7}, 7),
          Numbers::random({7}, 8),
          Numbers::random({7}, 9)};
}

TEST_CASE("linear: gradients" * doctest::skip(test::kFloatBuild)) {
  for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
    test::check_gradient(
        [&](Tape& tape, const Inputs& in) {
          return linear(tape, {{in[0], in[1]}}, {}, activation);
        },
        {Numbers::random({3, 2, 5}, 1), Numbers::random({5, 9}, 2)});
    test::check_gradient(
        [&](Tape& tape, const Inputs& in) {
          return linear(tape, {{in[0], in[1]}, {in[2], in[3]}, {in[4], in[5]}},
                        {in[6], in[7], in[8]}, activation);
        },
        three_terms({3, 5, 8}));
  }
}

TEST_CASE("linear: a sum of terms is the sum of linears") {
  for (const test::Extents& e : test::kExtents) {
    test::same_value_and_gradient(
        [](Tape& tape, const Inputs& in) {
          return linear(tape, {{in[0], in[1]}, {in[2], in[3]}, {in[4], in[5]}},
                        {in[6], in[7], in[8]}, Activation::kRelu);
        },
        [](Tape& tape, const Inputs& in) {
          const std::int64_t rows = in[0].rows();
          const Tensor a = linear(tape, {{in[0], in[1]}}, {in[6]}).reshaped({rows, 1, 1, 7});
          const Tensor b = linear(tape, {{in[2], in[3]}}, {in[7]}).reshaped({rows, 1, 7});
          const Tensor c = linear(tape, {{in[4], in[5]}}, {in[8]}).reshaped({rows, 1, 7});
          const Tensor sum = relu(tape, test::edge_add(tape, b, c, a));
          return sum.reshaped({in[0].dim(0), in[0].dim(1), 7});
        },
        three_terms(e));
  }
}

// A weight that serves `rows[t]` rows at time step t. What is wanted is added step by step, the
// last first.
void check_uses(const std::vector<std::int64_t>& rows, std::int64_t in, std::int64_t out) {
  Numbers w = Numbers::random({in, out}, 1);
  std::vector<Numbers> x, dy;
  FreshTape fresh;
  std::vector<Tensor> y;
  for (const std::int64_t r : rows) {
    x.push_back(Numbers::random({r, in}, 2 + x.size()));
    dy.push_back(Numbers::random({r, out}, 200 + x.size()));
  }
  const Tensor weight = w.tensor();
  for (std::size_t t = 0; t < rows.size(); ++t) {
    fresh.tape.begin_step();
    const Tensor of_step = linear(fresh.tape, {{x[t].tensor(), weight}}, {});
    fresh.tape.record_loss(
        [of_step, from = dy[t].tensor()] { std::copy_n(from.data, from.size(), of_step.grad); });
    fresh.tape.end_step();
  }
  fresh.tape.backward();
  std::vector<Real> want(static_cast<std::size_t>(in * out));
  for (std::size_t t = rows.size(); t-- > 0;) {
    gemm(in, out, rows[t], {x[t].tensor().data, 1, in}, {dy[t].tensor().data, out, 1}, want.data(),
         {.accumulate = true});
  }
  CHECK(w.grad() == want);
}

TEST_CASE("linear: a weight of several time steps gets the bits of one step after the other") {
  for (const std::size_t steps : {1, 2, 7, 8, 9, 16, 19}) {
    check_uses(std::vector<std::int64_t>(steps, 16), 33, 128);
  }
  check_uses({16, 16, 16, 8, 8, 3, 1, 1, 1, 1, 1}, 40, 24);  // samples have ended
  check_uses({8, 16, 8, 64, 65, 8, 8}, 20, 70);              // more rows than at first: at once
  check_uses({300, 16, 16}, 20, 70);
}

// The weight serves before the segments, what outlives them, and a step; then the budget forgets
// the step, if asked. Each use has its gradient, whatever the others have filed.
TEST_CASE("linear: a weight of steps and of the trajectory gets the gradients of both") {
  for (const bool forgets : {false, true}) {
    for (const std::int64_t r : {1, 4, 64, 65}) {
      Numbers w = Numbers::random({6, 5}, 1);
      std::vector<Numbers> x, dy;
      for (std::uint64_t use = 0; use < 4; ++use) {
        x.push_back(Numbers::random({r, 6}, 2 + use));
        dy.push_back(Numbers::random({r, 5}, 20 + use));
      }
      FreshTape fresh;
      Tape& tape = fresh.tape;
      const Tensor weight = w.tensor();
      const auto serve = [&tape, &x, &dy, weight](std::size_t use) {
        const Tensor y = linear(tape, {{x[use].data(), weight}}, {});
        tape.record_loss([y, from = dy[use].data()] { std::copy_n(from.data, y.size(), y.grad); });
      };
      const auto step = [&tape, serve](std::size_t use) {
        tape.begin_step();
        serve(use);
        tape.end_step();
      };
      serve(0);
      tape.begin_segments();
      {
        const Tape::OfTrajectory lasting(tape);
        serve(1);
      }
      step(2);
      if (forgets) tape.end_segment([again = &step] { (*again)(2); });
      step(3);
      tape.backward();
      std::vector<Real> want(6 * 5);
      for (const std::size_t use : {3, 2, 1, 0}) {
        gemm(6, 5, r, {x[use].data().data, 1, 6}, {dy[use].data().data, 5, 1}, want.data(),
             {.accumulate = true});
      }
      CHECK(w.grad() == want);
    }
  }
}

TEST_CASE("linear: two matrices that begin at one address do not mix their uses") {
  Numbers w = Numbers::random({30, 40}, 1), x = Numbers::random({4, 30}, 2),
          part = Numbers::random({4, 10}, 3);
  const auto both = [&](Tape& tape, const Tensor& weight) {
    const Tensor some{weight.data, weight.grad, {10, 40}};
    return linear(tape, {{x.tensor(), weight}, {part.tensor(), some}}, {});
  };
  FreshTape fresh;
  const Numbers dy = Numbers::random({4, 40}, 4);
  test::run_backward(fresh.tape, both(fresh.tape, w.tensor()), dy.values());
  std::vector<Real> want(30 * 40);
  for (const auto& [in, factor] : {std::pair<std::int64_t, const Numbers*>{30, &x}, {10, &part}}) {
    for (std::int64_t i = 0; i < in; ++i) {
      for (std::int64_t o = 0; o < 40; ++o) {
        for (std::int64_t r = 0; r < 4; ++r) {
          want[static_cast<std::size_t>(i * 40 + o)] +=
              factor->values()[static_cast<std::size_t>(r * in + i)] *
              dy.values()[static_cast<std::size_t>(r * 40 + o)];
        }
      }
    }
  }
  test::check_same("dw", w.grad(), want, test::kFloatBuild ? 1e-5 : 1e-13);
}

TEST_CASE("linear: a term without gradient is left alone") {
  Numbers x = Numbers::random({2, 3}, 1), w = Numbers::random({3, 4}, 2),
          b = Numbers::random({4}, 3);
  FreshTape fresh;
  const Tensor y = linear(fresh.tape, {{x.data(), w.tensor()}}, {b.data()});
  test::run_backward(fresh.tape, y, test::random_values(8, 4));
  CHECK(x.grad() == std::vector<Real>(6, 0));
  CHECK(b.grad() == std::vector<Real>(4, 0));
  CHECK(w.grad() != std::vector<Real>(12, 0));
}

TEST_CASE("linear: the kernels do as the definition") {
  for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
    const test::Op three = [=](Tape& tape, const Inputs& in) {
      return linear(tape, {{in[0], in[1]}, {in[2], in[3]}, {in[4], in[5]}}, {in[6], in[7], in[8]},
                    activation);
    };
    const test::Op one = [=](Tape& tape, const Inputs& in) {
      return linear(tape, {{in[0], in[1]}}, {}, activation);
    };
    for (const test::Extents& e : test::kExtents) {
      const std::vector<Numbers> all = three_terms(e);
      test::same_on_device(three, {.inputs = all});
      test::same_on_device(one, {.inputs = {all[0], all[1]}});
    }
    // The gradient of w is cut into parts; the rows are odd in number, so the biases' is not.
    test::same_on_device(three, {.inputs = three_terms({7, 43, 8})});
    test::same_on_device(three, {.inputs = three_terms({4, 64, 16})});
  }
}

TEST_CASE("linear: the kernels leave a term without gradient alone") {
  const Numbers x = Numbers::random({6, 5}, 1), w = Numbers::random({5, 4}, 2),
                b = Numbers::random({4}, 3), a = Numbers::random({4}, 4);
  test::same_on_device(
      [](Tape& tape, const Inputs& in) {
        return linear(tape, {{in[2], in[0]}}, {in[1], in[3]});
      },
      {.inputs = {w, b}, .constants = {x, a}});
  test::same_on_device(
      [](Tape& tape, const Inputs& in) {
        return linear(tape, {{in[0], in[1]}}, {in[2]}, Activation::kRelu);
      },
      {.inputs = {x}, .constants = {w, b}});
}

TEST_CASE("edge_add: the sender is the first node axis, by hand") {
  // y[i,j] = send[i] + recv[j] + e[i,j] = (10, 20)[i] + (1, 2)[j] + 100 (2 i + j)
  Numbers send({1, 2, 1}, {10, 20}), recv({1, 2, 1}, {1, 2}), e({1, 2, 2, 1}, {0, 100, 200, 300});
  FreshTape fresh;
  const Tensor y = test::edge_add(fresh.tape, send.tensor(), recv.tensor(), e.tensor());
  test::check_values(y, {11, 112, 221, 322}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 4, 8});
  CHECK(send.grad() == std::vector<Real>{3, 12});
  CHECK(recv.grad() == std::vector<Real>{5, 10});
  CHECK(e.grad() == std::vector<Real>{1, 2, 4, 8});
}

enum class Ends { kBoth, kSender, kReceiver };

// Inputs: send, recv, x, w, bias.
test::Op edge_form(Ends ends, test::Op form) {
  return [=](Tape& tape, const Inputs& in) {
    Inputs some = in;
    if (ends == Ends::kReceiver) some[0] = {};
    if (ends == Ends::kSender) some[1] = {};
    return form(tape, some);
  };
}

TEST_CASE("edge_linear: is linear, then edge_add, then relu") {
  for (const test::Extents& e : test::kExtents) {
    for (const Ends ends : {Ends::kBoth, Ends::kSender, Ends::kReceiver}) {
      const std::int64_t out = e.hidden;
      test::same_value_and_gradient(
          edge_form(ends,
                    [](Tape& tape, const Inputs& in) {
                      return edge_linear(tape, in[0], in[1], {{in[2], in[3]}}, {in[4]},
                                         Activation::kRelu);
                    }),
          edge_form(ends,
                    [](Tape& tape, const Inputs& in) {
                      const Tensor own = linear(tape, {{in[2], in[3]}}, {in[4]});
                      return relu(tape, test::edge_add(tape, in[0], in[1], own));
                    }),
          {Numbers::random({e.batch, e.nodes, out}, 1), Numbers::random({e.batch, e.nodes, out}, 2),
           Numbers::random({e.batch, e.nodes, e.nodes, 3}, 3), Numbers::random({3, out}, 4),
           Numbers::random({out}, 5)});
    }
  }
}

TEST_CASE("edge_linear: the kernels do as the definition") {
  const test::Op edges = [](Tape& tape, const Inputs& in) {
    return edge_linear(tape, in[0], in[1], {{in[2], in[3]}}, {in[4]}, Activation::kRelu);
  };
  for (const test::Extents& e : test::kExtents) {
    const std::vector<Numbers> inputs = {Numbers::random({e.batch, e.nodes, e.hidden}, 1),
                                         Numbers::random({e.batch, e.nodes, e.hidden}, 2),
                                         Numbers::random({e.batch, e.nodes, e.nodes, 3}, 3),
                                         Numbers::random({3, e.hidden}, 4),
                                         Numbers::random({e.hidden}, 5)};
    for (const Ends ends : {Ends::kBoth, Ends::kSender, Ends::kReceiver}) {
      test::same_on_device(edge_form(ends, edges), {.inputs = inputs});
    }
  }
}

TEST_CASE("edge_linear: gradients" * doctest::skip(test::kFloatBuild)) {
  test::check_gradient(
      [](Tape& tape, const Inputs& in) {
        return edge_linear(tape, in[0], in[1], {{in[2], in[3]}}, {in[4]}, Activation::kRelu);
      },
      {Numbers::random({2, 3, 4}, 1), Numbers::random({2, 3, 4}, 2),
       Numbers::random({2, 3, 3, 2}, 3), Numbers::random({2, 4}, 4), Numbers::random({4}, 5)});
}

TEST_CASE("linear: shapes that do not fit are refused") {
  Numbers x = Numbers::random({2, 3}, 1), w = Numbers::random({3, 4}, 2),
          b = Numbers::random({3}, 3);
  Numbers nodes = Numbers::random({1, 2, 4}, 4), edges = Numbers::random({1, 2, 2, 3}, 5);
  FreshTape fresh;
  Tape& tape = fresh.tape;
  CHECK_THROWS_AS(linear(tape, {}, {}), Error);
  CHECK_THROWS_AS(linear(tape, {{w.tensor(), w.tensor()}}, {}), Error);
  CHECK_THROWS_AS(linear(tape, {{x.tensor(), w.tensor()}}, {b.tensor()}), Error);
  CHECK_THROWS_AS(linear(tape, {{x.tensor(), w.tensor()}, {w.tensor(), w.tensor()}}, {}), Error);
  CHECK_THROWS_AS(linear(tape, {{x.tensor(), nodes.tensor()}}, {}), Error);
  CHECK_THROWS_AS(edge_linear(tape, {}, {}, {{edges.tensor(), w.tensor()}}, {}), Error);
  CHECK_THROWS_AS(edge_linear(tape, nodes.tensor(), {}, {}, {}), Error);
  CHECK_THROWS_AS(edge_linear(tape, nodes.tensor(), x.tensor(), {{edges.tensor(), w.tensor()}}, {}),
                  Error);
  CHECK_THROWS_AS(edge_linear(tape, nodes.tensor(), {}, {{x.tensor(), w.tensor()}}, {}), Error);
}

}  // namespace
}  // namespace renar::linear_test
