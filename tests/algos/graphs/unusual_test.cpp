// Graph algorithms on input that the benchmark's samplers never make: each ends in a right answer
// or in one clear error.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"
#include "tests/algos/graphs/graph_support.h"

namespace renar::test::unusual_test {
namespace {

std::vector<const Algorithm*> graph_algorithms() {
  std::vector<const Algorithm*> found;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.category == Category::kGraphs) found.push_back(&algorithm);
  }
  return found;
}

/// Runs the algorithm as a user would, on a table of numbers and a source, if it takes one.
Trace run(const Algorithm& algorithm, const Matrix& table, double source = 0) {
  UserInput input;
  for (const std::string& name : algorithm.inputs) {
    if (name == "s") {
      input.set(name, source);
    } else {
      input.set(name, table);
    }
  }
  return algorithm.run(input);
}

/// What the error says; fails the test if there is none.
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("no error");
  return "";
}

bool takes_source(const Algorithm& algorithm) { return algorithm.inputs.size() == 2; }
bool takes_graph(const Algorithm& algorithm) { return algorithm.inputs[0] == "A"; }
bool wants_acyclic(const Algorithm& algorithm) {
  return algorithm.name == "topological_sort" || algorithm.name == "dag_shortest_paths";
}

/// All ones, or those above the diagonal.
Matrix complete(int n, bool acyclic) {
  Matrix a(n, n);
  for (int u = 0; u < n; ++u) {
    for (int v = acyclic ? u + 1 : 0; v < n; ++v) a(u, v) = 1;
  }
  return a;
}

}  // namespace

TEST_CASE("graphs: a user's graphs of one, two and three nodes, without edges and with all") {
  CHECK(graph_algorithms().size() == 13);
  for (const Algorithm* algorithm : graph_algorithms()) {
    CAPTURE(algorithm->name);
    const int ends = takes_graph(*algorithm) ? 0 : 2;
    for (int n = 1; n <= 3; ++n) {
      CAPTURE(n);
      for (const Matrix& a : {Matrix(n, n), complete(n, wants_acyclic(*algorithm))}) {
        const Trace trace = run(*algorithm, a, n - 1);
        CHECK(trace.complete());  // every value was checked as it was recorded
        CHECK(trace.nodes() == (ends == 0 ? n : 2 * n + ends));
      }
    }
  }
}

TEST_CASE("graphs: tables that are no graph, and sources that are no node, are refused") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Algorithm* algorithm : graph_algorithms()) {
    CAPTURE(algorithm->name);
    CHECK_THROWS_AS(run(*algorithm, Matrix(0, 0)), Error);
    CHECK_THROWS_AS(algorithm->run(UserInput()), UsageError);
    for (const double wrong : {std::nan(""), inf, -inf}) {
      CHECK_THROWS_AS(run(*algorithm, directed(2, {{0, 1, wrong}, {1, 0, wrong}})), Error);
    }
    if (takes_graph(*algorithm)) {
      CHECK_THROWS_AS(run(*algorithm, Matrix(2, 3)), Error);
      CHECK_THROWS_AS(run(*algorithm, Matrix(3, 2)), Error);
    }
    if (takes_source(*algorithm)) {
      CHECK(error_of([&] { run(*algorithm, Matrix(2, 2), 2); }) ==
            "[" + algorithm->name + "] the source 2 is not one of 2 nodes");
      for (const double wrong : {-1.0, 0.5, 1e300, std::nan("")}) {
        CHECK_THROWS_AS(run(*algorithm, Matrix(2, 2), wrong), Error);
      }
    }
  }
}

// The same without the user's input between: what other code of ours calls.
TEST_CASE("graphs: the algorithms themselves refuse what is no graph") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Matrix& a : {Matrix(0, 0), Matrix(2, 3), directed(2, {{0, 0, std::nan("")}}),
                          directed(2, {{0, 1, inf}, {1, 0, inf}})}) {
    CHECK_THROWS_AS(articulation_points(a), Error);
    CHECK_THROWS_AS(bellman_ford(a, 0), Error);
    CHECK_THROWS_AS(bfs(a, 0), Error);
    CHECK_THROWS_AS(bridges(a), Error);
    CHECK_THROWS_AS(dag_shortest_paths(a, 0), Error);
    CHECK_THROWS_AS(dfs(a), Error);
    CHECK_THROWS_AS(dijkstra(a, 0), Error);
    CHECK_THROWS_AS(floyd_warshall(a), Error);
    CHECK_THROWS_AS(mst_kruskal(a), Error);
    CHECK_THROWS_AS(mst_prim(a, 0), Error);
    CHECK_THROWS_AS(strongly_connected_components(a), Error);
    CHECK_THROWS_AS(topological_sort(a), Error);
  }
  CHECK(error_of([&] { dfs(directed(1, {{0, 0, inf}})); }) == "[graphs] an edge of weight inf");
  for (const int source : {-1, 2}) {
    CHECK_THROWS_AS(bellman_ford(Matrix(2, 2), source), Error);
    CHECK_THROWS_AS(bfs(Matrix(2, 2), source), Error);
    CHECK_THROWS_AS(dag_shortest_paths(Matrix(2, 2), source), Error);
    CHECK_THROWS_AS(dijkstra(Matrix(2, 2), source), Error);
    CHECK_THROWS_AS(mst_prim(Matrix(2, 2), source), Error);
  }
}

TEST_CASE("graphs: an edge one way is no edge of an undirected graph") {
  const Matrix one_way = directed(3, {{0, 1, 2}, {1, 0, 2}, {2, 1}});
  for (const char* name : {"articulation_points", "bridges", "mst_kruskal", "mst_prim"}) {
    CHECK(error_of([&] { run(find_algorithm(name), one_way); }) ==
          "[" + std::string(name) + "] A(2, 1) = 1 but A(1, 2) = 0: give an undirected graph");
  }
}

TEST_CASE("graphs: negative weights are edges, and dijkstra alone refuses them all") {
  const Matrix a = directed(3, {{0, 1, -2}, {1, 2, -3}, {0, 2, 4}});
  CHECK(bfs(a, 0)["pi"] == Values{0, 0, 0});
  CHECK(dfs(a)["pi"] == Values{0, 0, 1});
  CHECK(dag_shortest_paths(a, 0)["pi"] == Values{0, 0, 1});
  CHECK(topological_sort(a)["topo"] == Values{1, 2, 2});
  CHECK(error_of([&] { dijkstra(a, 0); }) ==
        "[dijkstra] an edge of weight -2: bellman_ford takes negative ones");
  CHECK_THROWS_AS(dijkstra(a, 2), Error);  // though node 2 does not reach it
}

TEST_CASE("graphs: negative cycles have no shortest paths") {
  // 1 -> 2 -> 1 costs -1; 0 reaches it, 3 does not.
  const Matrix a = directed(4, {{0, 1, 1}, {1, 2, 2}, {2, 1, -3}, {3, 0, 1}});
  const std::string cycle =
      "negative cycle: there are no shortest paths (an undirected edge of "
      "negative weight is such a cycle)";
  CHECK(error_of([&] { bellman_ford(a, 0); }) == "[bellman_ford] source 0 reaches a " + cycle);
  CHECK(error_of([&] { floyd_warshall(a); }) == "[floyd_warshall] node 2 lies on a " + cycle);
  const Matrix apart = directed(4, {{0, 3, 1}, {1, 2, 2}, {2, 1, -3}});
  CHECK(bellman_ford(apart, 0)["pi"] == Values{0, 1, 2, 0});
  CHECK_THROWS_AS(floyd_warshall(apart), Error);
  for (int n = 1; n <= 3; ++n) {  // a self-loop, an undirected edge, a round of n nodes
    Matrix round(n, n);
    for (int u = 0; u < n; ++u) round(u, (u + 1) % n) = u == 0 ? -n : 1;
    for (int u = 0; u < n; ++u) CHECK_THROWS_AS(bellman_ford(round, u), Error);
    CHECK_THROWS_AS(floyd_warshall(round), Error);
  }
}

// The benchmark's bellman_ford stops here, before it has seen node 3: d did not change.
TEST_CASE("graphs: paths of length 0 are paths, and rounds of length 0 no negative cycles") {
  const Matrix a = directed(4, {{0, 1, 1}, {1, 2, -1}, {2, 3, 5}});
  CHECK(bellman_ford(a, 0)["pi"] == Values{0, 0, 1, 2});
  CHECK(dag_shortest_paths(a, 0)["pi"] == Values{0, 0, 1, 2});
  CHECK(floyd_warshall(a)["Pi"] ==
        Values{0, 0, 1, 2, /**/ 1, 1, 1, 2, /**/ 2, 2, 2, 2, /**/ 3, 3, 3, 3});
  const Matrix round = directed(3, {{0, 1, 1}, {1, 2, 1}, {2, 0, -2}});
  CHECK(bellman_ford(round, 1)["pi"] == Values{2, 1, 1});
  CHECK(floyd_warshall(round)["Pi"] == Values{0, 0, 1, /**/ 2, 1, 1, /**/ 2, 0, 2});
}

TEST_CASE("graphs: distances that overflow are refused") {
  const double huge = 1e308;
  const Matrix by_last = directed(3, {{0, 2, huge}, {2, 1, huge}});
  for (const Matrix& a : {directed(3, {{0, 1, huge}, {1, 2, huge}}), by_last}) {
    CHECK_THROWS_AS(bellman_ford(a, 0), Error);
    CHECK_THROWS_AS(dag_shortest_paths(a, 0), Error);
    CHECK_THROWS_AS(dijkstra(a, 0), Error);
    CHECK_THROWS_AS(floyd_warshall(a), Error);
  }
  CHECK(error_of([&] { floyd_warshall(by_last); }) ==
        "[floyd_warshall] a distance of inf: give smaller weights");
  CHECK(mst_prim(directed(2, {{0, 1, huge}, {1, 0, huge}}), 0)["pi"] == Values{0, 0});
}

TEST_CASE("graphs: a cycle has no topological order; dag_shortest_paths minds those in reach") {
  CHECK(error_of([] {
          topological_sort(directed(3, {{0, 1}, {1, 2}, {2, 0}}));
        }) == "[topological_sort] the edge from 2 to 0 closes a cycle: give an acyclic graph");
  CHECK_THROWS_AS(topological_sort(directed(1, {{0, 0}})), Error);
  CHECK_THROWS_AS(topological_sort(directed(3, {{1, 2}, {2, 1}})), Error);
  CHECK_THROWS_AS(dag_shortest_paths(directed(1, {{0, 0}}), 0), Error);
  const Matrix a = directed(4, {{0, 1}, {2, 3}, {3, 2}, {3, 0}});
  CHECK(error_of([&] { dag_shortest_paths(a, 2); }) ==
        "[dag_shortest_paths] the edge from 3 to 2 closes a cycle: give an acyclic graph");
  CHECK(dag_shortest_paths(a, 0)["pi"] == Values{0, 0, 2, 3});
}

TEST_CASE("graphs: every cycle is found, on random graphs") {
  RandomGraphs random(21);
  for (int sample = 0; sample < 1000; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(Edges::kDirected);
    Nodes on_cycles = 0;  // those that reach themselves by an edge
    for (int u = 0; u < a.rows(); ++u) {
      for (int v = 0; v < a.rows(); ++v) {
        if (a(u, v) != 0 && has(reachable(a, v, all_nodes(a)), u)) on_cycles |= 1u << u;
      }
    }
    const auto refuses = [](const auto& call) {
      try {
        call();
      } catch (const Error&) {
        return true;
      }
      return false;
    };
    REQUIRE(refuses([&] { topological_sort(a); }) == (on_cycles != 0));
    for (int s = 0; s < a.rows(); ++s) {
      const bool in_reach = (reachable(a, s, all_nodes(a)) & on_cycles) != 0;
      REQUIRE(refuses([&] { dag_shortest_paths(a, s); }) == in_reach);
    }
  }
}

TEST_CASE("graphs: bipartite_matching takes more on one side, and 0 or 1 only") {
  CHECK(bipartite_matching(Matrix(3, 0)).nodes() == 5);  // nobody to be matched with
  CHECK_THROWS_AS(bipartite_matching(Matrix(0, 3)), Error);
  Matrix edges(1, 3);
  edges(0, 1) = 1;
  const Values in_matching = run(find_algorithm("bipartite_matching"), edges)["in_matching"];
  CHECK(in_matching[1 * 6 + 3] == 1);
  edges(0, 2) = 0.5;
  CHECK(error_of([&] { bipartite_matching(edges); }) ==
        "[bipartite_matching] edges(0, 2) = 0.5: 1 is an edge, 0 is none");
}

TEST_CASE("graphs: sampler parameters that make no graph are refused") {
  for (const Algorithm* algorithm : graph_algorithms()) {
    CAPTURE(algorithm->name);
    NumpyRandom random(1);
    for (const Values& p : {Values{}, Values{1.01}, Values{-0.1}, Values{0.5, std::nan("")}}) {
      CHECK_THROWS_AS(algorithm->sample(random, 8, {.p = p}), Error);
    }
    for (const int length : {0, -1, -8}) {
      CHECK_THROWS_AS(algorithm->sample(random, length, {.p = {0.5}}), Error);
    }
  }
}

}  // namespace renar::test::unusual_test
