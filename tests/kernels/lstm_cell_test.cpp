// lstm_cell by hand, against the formula, and its gradients.
#include "kernels/lstm_cell.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::lstm_cell_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

constexpr double kExact = test::kFloatBuild ? 1e-6 : 1e-14;

Tensor hidden_of(Tape& tape, const Inputs& in) { return lstm_cell(tape, in[0], in[1]).hidden; }
Tensor cell_of(Tape& tape, const Inputs& in) { return lstm_cell(tape, in[0], in[1]).cell; }

TEST_CASE("lstm_cell: by hand") {
  // sigmoid(ln 3) = 3/4, tanh(ln 2) = 3/5, sigmoid(ln 4) = 4/5, sigmoid(-ln 4) = 1/5.
  // Element 0: i 3/4, g 3/5, f 4/5, o 1/5, old 1: cell 4/5 + 9/20 = 5/4.
  // Element 1: i 1/2, g 0, f 1/2, o 1/2, old 2: cell 1.
  const Real ln2 = std::log(Real{2}), ln3 = std::log(Real{3}), ln4 = std::log(Real{4});
  Numbers gates({1, 8}, {ln3, 0, ln2, 0, ln4 - 1, -1, -ln4, 0}), old({1, 2}, {1, 2});
  FreshTape fresh;
  const LstmState next = lstm_cell(fresh.tape, gates.tensor(), old.tensor());
  const Real a = std::tanh(Real{1.25}), b = std::tanh(Real{1});
  test::check_values(next.cell, {1.25, 1}, kExact);
  test::check_values(next.hidden, {a / 5, b / 2}, kExact);
  next.cell.grad[0] = 10;  // the next step reads the cell too
  test::run_backward(fresh.tape, next.hidden, {5, 2});
  const Real da = 10 + (1 - a * a), db = 1 - b * b;  // of the cells
  test::check_same("dgates", gates.grad(),
                   {da * Real(0.6) * 3 / 16, 0, da * Real(0.75) * Real(0.64), db / 2,
                    da * Real(0.16), db * 2 / 4, 5 * a * Real(0.16), 2 * b / 4},
                   kExact);
  test::check_same("dold", old.grad(), {da * Real(0.8), db / 2}, kExact);
}

TEST_CASE("lstm_cell: huge gates open and close it, and nothing overflows") {
  Numbers gates({1, 12}, {500, -500, 500, -500, 500, 500, 500, -500, -500, 500, 500, -500});
  Numbers old({1, 3}, {0.25, 4, 8});
  FreshTape fresh;
  const LstmState next = lstm_cell(fresh.tape, gates.tensor(), old.tensor());
  test::check_values(next.cell, {-1 + 0.25, 0, 1}, kExact);
  test::check_values(next.hidden, {std::tanh(Real(-0.75)), 0, 0}, kExact);
  test::run_backward(fresh.tape, next.hidden, {1, 1, 1});
  for (const Real value : gates.grad()) CHECK(std::isfinite(value));
}

TEST_CASE("lstm_cell: agrees with the formula") {
  for (const test::Extents& e : test::kExtents) {
    const std::int64_t h = e.hidden;
    Numbers gates = Numbers::random({e.batch, e.nodes, 4 * h}, 1);
    Numbers old = Numbers::random({e.batch, e.nodes, h}, 2);
    Values hidden, cell;
    for (std::int64_t at = 0; at < e.batch * e.nodes * h; ++at) {
      const auto gate = [&](std::int64_t k) {
        return double{gates.data().data[(at / h * 4 + k) * h + at % h]};
      };
      const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
      const double c = sigmoid(gate(2) + 1) * double{old.data().data[at]} +
                       sigmoid(gate(0)) * std::tanh(gate(1));
      cell.push_back(static_cast<Real>(c));
      hidden.push_back(static_cast<Real>(sigmoid(gate(3)) * std::tanh(c)));
    }
    FreshTape fresh;
    const LstmState next = lstm_cell(fresh.tape, gates.tensor(), old.data());
    test::check_values(next.cell, cell);
    test::check_values(next.hidden, hidden);
  }
}

TEST_CASE("lstm_cell: the kernels do as the definition, through either result and two steps") {
  const auto two_steps = [](Tape& tape, const Inputs& in) {
    return hidden_of(tape, {in[0], cell_of(tape, in)});
  };
  std::vector<test::Extents> sizes(std::begin(test::kExtents), std::end(test::kExtents));
  sizes.push_back({1, 64, 8});
  for (const test::Extents& e : sizes) {
    const std::vector<Numbers> inputs = {Numbers::random({e.batch, e.nodes, 4 * e.hidden}, 1),
                                         Numbers::random({e.batch, e.nodes, e.hidden}, 2)};
    for (const test::Op& op : {test::Op(hidden_of), test::Op(cell_of), test::Op(two_steps)}) {
      test::same_on_device(op, {.inputs = inputs});
    }
    test::same_on_device(hidden_of, {.inputs = {inputs[0]}, .constants = {inputs[1]}});
    test::same_on_device(
        [](Tape& tape, const Inputs& in) {
          return hidden_of(tape, {in[1], in[0]});
        },
        {.inputs = {inputs[1]}, .constants = {inputs[0]}});
  }
}

TEST_CASE("lstm_cell: gradients, through either result and through two steps" *
          doctest::skip(test::kFloatBuild)) {
  const std::vector<Numbers> inputs = {Numbers::random({2, 3, 20}, 1),
                                       Numbers::random({2, 3, 5}, 2)};
  test::check_gradient(hidden_of, inputs);
  test::check_gradient(cell_of, inputs);
  test::check_gradient(
      [](Tape& tape, const Inputs& in) {
        return hidden_of(tape, {in[0], lstm_cell(tape, in[0], in[1]).cell});
      },
      inputs);
}

TEST_CASE("lstm_cell: inputs without gradient are left alone") {
  Numbers gates = Numbers::random({3, 8}, 1), old = Numbers::random({3, 2}, 2);
  for (const bool learn_gates : {true, false}) {
    FreshTape fresh;
    const LstmState next = lstm_cell(fresh.tape, learn_gates ? gates.tensor() : gates.data(),
                                     learn_gates ? old.data() : old.tensor());
    test::run_backward(fresh.tape, next.hidden, Values(6, 1));
    CHECK((gates.grad() != Values(24, 0)));
    CHECK((old.grad() != Values(6, 0)) == !learn_gates);
  }
}

TEST_CASE("lstm_cell: shapes that do not fit are refused") {
  Numbers gates = Numbers::random({2, 3, 8}, 1), cell = Numbers::random({2, 3, 3}, 2);
  Numbers fewer = Numbers::random({2, 2, 2}, 3);
  FreshTape fresh;
  CHECK_THROWS_AS(lstm_cell(fresh.tape, gates.tensor(), cell.tensor()), Error);
  CHECK_THROWS_AS(lstm_cell(fresh.tape, gates.tensor(), fewer.tensor()), Error);
}

}  // namespace
}  // namespace renar::lstm_cell_test
