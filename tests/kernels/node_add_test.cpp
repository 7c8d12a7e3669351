// node_add by hand and its gradient.
#include "kernels/node_add.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::node_add_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

TEST_CASE("node_add: by hand") {
  Numbers x({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), graph({2, 2}, {10, 20, 30, 40});
  FreshTape fresh;
  const Tensor y = node_add(fresh.tape, x.tensor(), graph.tensor());
  test::check_values(y, {11, 22, 13, 24, 35, 46, 37, 48}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(x.grad() == Values{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(graph.grad() == Values{4, 6, 12, 14});
}

TEST_CASE("node_add: a gradient for one side alone") {
  Numbers x = Numbers::random({1, 3, 2}, 1), graph = Numbers::random({1, 2}, 2);
  FreshTape fresh;
  test::run_backward(fresh.tape, node_add(fresh.tape, x.data(), graph.tensor()), Values(6, 1));
  CHECK(graph.grad() == Values{3, 3});
  CHECK(x.grad() == Values(6, 0));
  FreshTape again;
  test::run_backward(again.tape, node_add(again.tape, x.data(), graph.tensor()), Values(6, 1));
  CHECK(graph.grad() == Values{6, 6});  // it adds
}

TEST_CASE("node_add: the kernels do as the definition") {
  for (const test::Extents& e : test::kExtents) {
    const Numbers x = Numbers::random({e.batch, e.nodes, e.hidden}, 1);
    const Numbers graph = Numbers::random({e.batch, e.hidden}, 2);
    const test::Op both = [](Tape& tape, const Inputs& in) { return node_add(tape, in[0], in[1]); };
    const test::Op turned = [](Tape& tape, const Inputs& in) {
      return node_add(tape, in[1], in[0]);
    };
    test::same_on_device(both, {.inputs = {x, graph}});
    test::same_on_device(both, {.inputs = {x}, .constants = {graph}});
    test::same_on_device(turned, {.inputs = {graph}, .constants = {x}});
  }
}

TEST_CASE("node_add: gradients" * doctest::skip(test::kFloatBuild)) {
  test::check_gradient([](Tape& tape, const Inputs& in) { return node_add(tape, in[0], in[1]); },
                       {Numbers::random({2, 5, 3}, 1), Numbers::random({2, 3}, 2)});
}

TEST_CASE("node_add: shapes that do not fit are refused") {
  Numbers x = Numbers::random({2, 3, 4}, 1), graph = Numbers::random({2, 3}, 2);
  FreshTape fresh;
  CHECK_THROWS_AS(node_add(fresh.tape, x.tensor(), graph.tensor()), Error);
  CHECK_THROWS_AS(node_add(fresh.tape, graph.tensor(), graph.tensor()), Error);
}

}  // namespace
}  // namespace renar::node_add_test
