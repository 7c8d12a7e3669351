// The graph algorithms on graphs worked out by hand, on unusual ones, and on ones they must refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"
#include "tests/algos/graphs/graph_support.h"

namespace renar::test::graphs_by_hand_test {
namespace {

Matrix undirected(int nodes, std::initializer_list<Edge> edges) {
  Matrix a(nodes, nodes);
  for (const Edge& e : edges) a(e.from, e.to) = a(e.to, e.from) = e.weight;
  return a;
}

// 0 -> 1 costs 4, but 0 -> 2 -> 1 only 1 + 2; 3 is reached through 1 at 3 + 1.
TEST_CASE("graphs: shortest paths take the cheap detour") {
  const Matrix a = directed(4, {{0, 1, 4}, {0, 2, 1}, {2, 1, 2}, {1, 3, 1}});
  const Values pi = {0, 2, 0, 1};
  CHECK(dijkstra(a, 0)["pi"] == pi);
  CHECK(bellman_ford(a, 0)["pi"] == pi);
  CHECK(dag_shortest_paths(a, 0)["pi"] == pi);
}

TEST_CASE("graphs: bellman_ford takes negative edges, and refuses a negative cycle") {
  CHECK(bellman_ford(directed(3, {{0, 1, 2}, {0, 2, 3}, {2, 1, -2}}), 0)["pi"] == Values{0, 2, 0});
  CHECK_THROWS_AS(bellman_ford(directed(2, {{0, 1, 1}, {1, 0, -2}}), 0), Error);
  CHECK_THROWS_AS(dijkstra(directed(2, {{0, 1, -1}}), 0), Error);
}

// A square 0 1 2 3 with weights 1, 2, 3, 9: the tree leaves the 9 out.
TEST_CASE("graphs: spanning trees leave out the heaviest edge of a cycle") {
  const Matrix a = undirected(4, {{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {3, 0, 9}});
  CHECK(mst_prim(a, 0)["pi"] == Values{0, 0, 1, 2});
  const Values in_mst = mst_kruskal(a)["in_mst"];
  CHECK(in_mst[0 * 4 + 1] == 1);
  CHECK(in_mst[1 * 4 + 2] == 1);
  CHECK(in_mst[2 * 4 + 3] == 1);
  CHECK(in_mst[3 * 4 + 0] == 0);
  CHECK_THROWS_AS(mst_kruskal(directed(2, {{0, 1}})), Error);
}

// 2 -> 0 -> 1: 2 comes first; each node points to the one after it, the last to itself.
TEST_CASE("graphs: a topological order follows the edges, and a cycle has none") {
  const Trace trace = topological_sort(directed(3, {{2, 0}, {0, 1}}));
  CHECK(trace["topo"] == Values{1, 1, 0});
  CHECK(trace["topo_head"] == Values{0, 0, 1});
  CHECK_THROWS_AS(topological_sort(directed(2, {{0, 1}, {1, 0}})), Error);
  CHECK_THROWS_AS(dag_shortest_paths(directed(2, {{0, 1}, {1, 0}}), 0), Error);
}

// A triangle 0 1 2 with a tail 2 - 3: 2 holds it together, and the tail is the only bridge.
TEST_CASE("graphs: the triangle with a tail") {
  const Matrix a = undirected(4, {{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  CHECK(articulation_points(a)["is_cut"] == Values{0, 0, 1, 0});
  const Values is_bridge = bridges(a)["is_bridge"];
  CHECK(is_bridge[2 * 4 + 3] == 1);
  CHECK(is_bridge[3 * 4 + 2] == 1);
  CHECK(std::count(is_bridge.begin(), is_bridge.end(), 1.0) == 2);
}

// 0 and 1 reach each other, 2 and 3 too, and 1 -> 2 joins them one way.
TEST_CASE("graphs: strongly connected components share an id") {
  const Values id = strongly_connected_components(
      directed(4, {{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 2}}))["scc_id"];
  CHECK(id[0] == id[1]);
  CHECK(id[2] == id[3]);
  CHECK(id[0] != id[2]);
}

TEST_CASE("graphs: all shortest paths of CLRS, figure 25.1 / 23.1") {
  const Matrix a = directed(5, {{0, 1, 3},
                                {0, 2, 8},
                                {0, 4, -4},
                                {1, 3, 1},
                                {1, 4, 7},
                                {2, 1, 4},
                                {3, 0, 2},
                                {3, 2, -5},
                                {4, 3, 6}});
  const Trace trace = floyd_warshall(a);
  CHECK(trace["Pi"] == Values{0, 2, 3, 4, 0, /**/ 3, 1, 3, 1, 0, /**/ 3, 2, 2, 1, 0, /**/
                              3, 2, 3, 3, 0, /**/ 3, 2, 3, 4, 4});
  // D of the last frame has not seen the paths through node 4 yet: 0 to 1, 2 and 3 cost more.
  CHECK(last_frame(trace, "D") == Values{0,      3,  -1, 4, -4, /**/ 3, 0, -4, 1, -1,
                                         /**/ 7, 4,  0,  5, 3,
                                         /**/ 2, -1, -5, 0, -2, /**/ 8, 5, 1,  6, 0});
}

// The self-loop of 0 costs 9, the round 0 -> 1 -> 0 only 5; 2 reaches nobody and nobody reaches it.
TEST_CASE("graphs: floyd_warshall keeps self-loops on its diagonal") {
  const Trace trace = floyd_warshall(directed(3, {{0, 0, 9}, {0, 1, 2}, {1, 0, 3}, {2, 2, 4}}));
  CHECK(trace["Pi"] == Values{1, 0, 0, /**/ 1, 1, 1, /**/ 2, 2, 2});
  CHECK(last_frame(trace, "D") == Values{5, 2, 0, /**/ 3, 0, 0, /**/ 0, 0, 4});
  CHECK(last_frame(trace, "msk") == Values{1, 1, 0, /**/ 1, 1, 0, /**/ 0, 0, 1});
}

// s = 0, left 1, right 2, t = 3: two sweeps to t's neighbour, a third to t itself, the path back,
// and a search that finds s cut off.
TEST_CASE("graphs: the frames of the smallest matching, one by one") {
  Matrix edges(1, 1);
  edges(0, 0) = 1;
  const Trace trace = bipartite_matching(edges);
  CHECK(trace["A"] == Values{0, 1, 0, 0, /**/ 0, 0, 1, 0, /**/ 0, 0, 0, 1, /**/ 0, 0, 0, 0});
  CHECK(trace["in_matching"] ==
        Values{1, 1, -1, -1, /**/ 0, 1, 1, -1, /**/ -1, 0, 1, 1, /**/ -1, -1, 0, 1});
  CHECK(trace["phase"] == Values{0, 0, 0, 1, 1, 1, 1, 0});
  CHECK(trace["u"] == Values{0, 0, 0, 1, /**/ 0, 0, 0, 1, /**/ 0, 0, 0, 1, /**/ 0, 0, 0, 1, /**/
                             0, 0, 1, 0, /**/ 0, 1, 0, 0, /**/ 1, 0, 0, 0, /**/ 1, 0, 0, 0});
  CHECK(trace["d"] == Values{0, 0, 0, 0, /**/ 0, 1, 0, 0, /**/ 0, 1, 2, 0, /**/ 0, 1, 2, 0, /**/
                             0, 1, 2, 0, /**/ 0, 1, 2, 0, /**/ 0, 1, 2, 0, /**/ 0, 0, 0, 0});
  CHECK(trace["pi"] == Values{0, 1, 2, 3, /**/ 0, 0, 2, 3, /**/ 0, 0, 1, 3, /**/ 0, 0, 1, 2, /**/
                              0, 0, 1, 2, /**/ 0, 0, 1, 2, /**/ 0, 0, 1, 2, /**/ 0, 1, 2, 3});
  CHECK(last_frame(trace, "A_h") ==
        Values{0, 0, 0, 0, /**/ 1, 0, 0, 0, /**/ 0, 1, 0, 0, /**/ 0, 0, 1, 0});
  CHECK(last_frame(trace, "adj_h") ==
        Values{1, 0, 0, 0, /**/ 1, 1, 0, 0, /**/ 0, 1, 1, 0, /**/ 0, 0, 1, 1});
}

// Left 0 may have right 0 or 1, left 1 only right 0: the second path gives right 0 to left 1.
TEST_CASE("graphs: a matching takes a pair apart where that makes room for two") {
  Matrix edges(2, 2);
  edges(0, 0) = edges(0, 1) = edges(1, 0) = 1;
  const Trace trace = bipartite_matching(edges);
  const Values in_matching = trace["in_matching"];  // nodes 1, 2 left, 3, 4 right
  CHECK(in_matching[1 * 6 + 3] == 0);
  CHECK(in_matching[1 * 6 + 4] == 1);
  CHECK(in_matching[2 * 6 + 3] == 1);
}

TEST_CASE("graphs: one, two and three nodes, without edges and with all, come to an end") {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.category != Category::kGraphs) continue;
    CAPTURE(algorithm.name);
    for (int nodes = 1; nodes <= 5; ++nodes) {
      for (const double p : {0.0, 0.5, 1.0}) {
        NumpyRandom random(7);
        if (algorithm.name == "strongly_connected_components" && nodes < 4) {
          CHECK_THROWS_AS(algorithm.sample(random, nodes, {.p = {p}}), Error);  // 4 communities
          continue;
        }
        const Trace trace = algorithm.sample(random, nodes, {.p = {p}});
        CHECK(trace.complete());  // every value was checked as it was recorded
        const int ends = algorithm.name == "bipartite_matching" ? 2 : 0;  // of its flow network
        CHECK(trace.nodes() == nodes + ends);
      }
    }
  }
}

}  // namespace
}  // namespace renar::test::graphs_by_hand_test
