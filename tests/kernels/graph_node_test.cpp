// The graph as a node: by hand, the kernels, and add_last's gradient.
#include "kernels/graph_node.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::graph_node_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

Tensor last_op(Tape& tape, const Inputs& in) { return add_last(tape, in[0]); }

TEST_CASE("append_graph: by hand; the graph's row is its first node's") {
  Numbers node({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), graph({2, 2, 2}, {10, 20, 0, 0, 30, 40, 0, 0});
  FreshTape fresh;
  const Tensor y = append_graph(fresh.tape, node.data(), graph.data());
  CHECK(y.shape == Shape{2, 3, 2});
  CHECK(!y.has_grad());
  test::check_values(y, {1, 2, 3, 4, 10, 20, 5, 6, 7, 8, 30, 40}, 0);
}

TEST_CASE("append_graph_edges: by hand; what is no edge is zero, as are the graph's") {
  Numbers edge({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), adj({1, 2, 2}, {1, 0, 1, 1});
  FreshTape fresh;
  const Tensor y = append_graph_edges(fresh.tape, edge.data(), adj.data());
  CHECK(y.shape == Shape{1, 3, 3, 2});
  test::check_values(y, {1, 2, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0}, 0);
  test::check_values(append_graph_edges(fresh.tape, edge.data(), {}),
                     {1, 2, 3, 4, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0}, 0);
}

TEST_CASE("add_last: by hand") {
  Numbers x({2, 3, 2}, {1, 2, 3, 4, 10, 20, 5, 6, 7, 8, 30, 40});
  FreshTape fresh;
  const Tensor y = add_last(fresh.tape, x.tensor());
  CHECK(y.shape == Shape{2, 2, 2});
  test::check_values(y, {11, 22, 13, 24, 35, 46, 37, 48}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(x.grad() == Values{1, 2, 3, 4, 4, 6, 5, 6, 7, 8, 12, 14});
}

TEST_CASE("graph_node: the kernels do as the definition") {
  std::vector<test::Extents> sizes(std::begin(test::kExtents), std::end(test::kExtents));
  sizes.insert(sizes.end(), {{1, 33, 24}, {1, 64, 3}});
  for (const test::Extents& e : sizes) {
    const Shape nodes = {e.batch, e.nodes, e.hidden};
    test::same_on_device(
        [](Tape& tape, const Inputs& in) { return append_graph(tape, in[0], in[1]); },
        {.inputs = {},
         .constants = {Numbers::random(nodes, 1), Numbers::random(nodes, 2)},
         .tolerance = 0});
    const Numbers edge = Numbers::random({e.batch, e.nodes, e.nodes, e.hidden}, 3);
    test::same_on_device(
        [](Tape& tape, const Inputs& in) { return append_graph_edges(tape, in[0], in[1]); },
        {.inputs = {},
         .constants = {edge, test::random_adjacency(e.batch, e.nodes, 4)},
         .tolerance = 0});
    test::same_on_device(
        [](Tape& tape, const Inputs& in) { return append_graph_edges(tape, in[0], {}); },
        {.inputs = {}, .constants = {edge}, .tolerance = 0});
    test::same_on_device(last_op,
                         {.inputs = {Numbers::random({e.batch, e.nodes + 1, e.hidden}, 5)}});
  }
}

TEST_CASE("add_last: gradients" * doctest::skip(test::kFloatBuild)) {
  test::check_gradient(last_op, {Numbers::random({2, 4, 3}, 5)});
}

TEST_CASE("graph_node: shapes that do not fit and gradients that do not pass are refused") {
  Numbers x = Numbers::random({2, 3, 4}, 1), other = Numbers::random({2, 2, 4}, 2);
  Numbers edge = Numbers::random({2, 3, 3, 4}, 3), oblong = Numbers::random({2, 3, 2, 4}, 4);
  Numbers two = Numbers::random({4, 2}, 5);
  FreshTape fresh;
  CHECK_THROWS_AS(append_graph(fresh.tape, x.data(), other.data()), Error);
  CHECK_THROWS_AS(append_graph(fresh.tape, edge.data(), edge.data()), Error);
  CHECK_THROWS_AS(append_graph(fresh.tape, x.tensor(), x.data()), Error);
  CHECK_THROWS_AS(append_graph(fresh.tape, x.data(), x.tensor()), Error);
  CHECK_THROWS_AS(append_graph_edges(fresh.tape, oblong.data(), {}), Error);
  CHECK_THROWS_AS(append_graph_edges(fresh.tape, edge.data(), x.data()), Error);
  CHECK_THROWS_AS(append_graph_edges(fresh.tape, edge.tensor(), {}), Error);
  CHECK_THROWS_AS(add_last(fresh.tape, two.tensor()), Error);
}

}  // namespace
}  // namespace renar::graph_node_test
