// What the graph algorithms share: adjacency lists and the queue of Dijkstra and Prim.
#include "algos/graphs/graphs.h"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <vector>

#include "core/check.h"
#include "core/numpy_random.h"

namespace renar::graphs_test {
namespace {

TEST_CASE("adjacency lists hold the ends of the edges in order, also where all or none are there") {
  NumpyRandom random(3);
  for (const double p : {0.0, 0.3, 1.0}) {
    for (const int n : {1, 2, 7, 20}) {
      Matrix a(n, n);
      random.binomial(p, a.values());
      const AdjacencyLists edges(a);
      for (int u = 0; u < n; ++u) {
        std::vector<int> expected;
        for (int v = 0; v < n; ++v) {
          if (a(u, v) != 0) expected.push_back(v);
        }
        const auto found = edges.of(u);
        CHECK(std::vector<int>(found.begin(), found.end()) == expected);
      }
    }
  }
}

TEST_CASE("the queue gives the smallest key and of equal ones the lowest node, as a sorted map") {
  NumpyRandom random(4);
  constexpr int kNodes = 9;
  MinQueue queue(kNodes);
  std::map<int, double> waiting;
  CHECK(queue.extract_min() == -1);
  for (int i = 0; i < 2000; ++i) {
    if (random.binomial(0.6) != 0) {
      const int v = random.choice(kNodes);
      const double key = random.choice(4) - 1.0;  // many ties, and below 0
      queue.put(v, key);
      waiting[v] = key;
    } else {
      int least = -1;
      for (const auto& [v, key] : waiting) {
        if (least < 0 || key < waiting[least]) least = v;
      }
      CHECK(queue.extract_min() == least);
      waiting.erase(least);
    }
    for (int v = 0; v < kNodes; ++v) {
      REQUIRE(queue.holds(v) == waiting.contains(v));
      REQUIRE(queue.nodes()[static_cast<std::size_t>(v)] == (waiting.contains(v) ? 1 : 0));
    }
  }
}

TEST_CASE("a weight that is not finite is named") {
  Matrix a(3, 3);
  a(1, 2) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(check_graph(a), "[graphs] an edge of weight inf", Error);
}

}  // namespace
}  // namespace renar::graphs_test
