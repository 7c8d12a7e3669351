// Breadth-first search: graphs by hand, the edge cases, and shortest paths on random graphs.
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "algos/matrix.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
Trace bfs(const Matrix& a, int source);  // algos/graphs/bfs.cpp
}  // namespace renar

namespace renar::bfs_test {
namespace {

using Values = std::vector<double>;

/// Distances from the source by relaxing all edges N times (another algorithm, as the oracle); n
/// for nodes out of reach.
std::vector<int> distances(const Values& a, int n, int source) {
  std::vector<int> distance(static_cast<std::size_t>(n), n);
  distance[source] = 0;
  for (int round = 0; round < n; ++round) {
    for (int u = 0; u < n; ++u) {
      for (int v = 0; v < n; ++v) {
        if (a[u * n + v] > 0) distance[v] = std::min(distance[v], distance[u] + 1);
      }
    }
  }
  return distance;
}

TEST_CASE("bfs: a square with a tail, frame by frame") {
  // 0 - 1, 0 - 2, 1 - 3, 2 - 3, 3 - 4 from 0: node 3 takes the lower of its two predecessors.
  Matrix a(5, 5);
  for (const auto& [u, v] : {std::pair(0, 1), {0, 2}, {1, 3}, {2, 3}, {3, 4}})
    a(u, v) = a(v, u) = 1;
  const Trace trace = bfs(a, 0);
  CHECK(trace["s"] == Values{1, 0, 0, 0, 0});
  CHECK(trace["pi"] == Values{0, 0, 0, 1, 3});
  CHECK(trace["reach_h"] ==
        Values{1, 0, 0, 0, 0, /**/ 1, 1, 1, 0, 0, /**/ 1, 1, 1, 1, 0, /**/ 1, 1, 1, 1, 1});
  CHECK(trace["pi_h"] ==
        Values{0, 1, 2, 3, 4, /**/ 0, 0, 0, 3, 4, /**/ 0, 0, 0, 1, 4, /**/ 0, 0, 0, 1, 3});
}

TEST_CASE("bfs: one node, no edges, all edges, one way") {
  CHECK(bfs(Matrix(1, 1), 0)["pi"] == Values{0});
  CHECK(bfs(Matrix(1, 1), 0).frames() == 1);
  CHECK(bfs(Matrix(3, 3), 1)["pi"] == Values{0, 1, 2});
  CHECK(bfs(Matrix(3, 3), 1).frames() == 1);
  Matrix complete(3, 3), path(2, 2);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) complete(i, j) = 1;
  }
  CHECK(bfs(complete, 2)["pi"] == Values{2, 2, 2});
  CHECK(bfs(complete, 2).frames() == 2);
  path(0, 1) = 1;
  CHECK(bfs(path, 0)["pi"] == Values{0, 0});
  CHECK(bfs(path, 1)["pi"] == Values{0, 1});
  CHECK_THROWS_WITH_AS(bfs(path, 2), "[bfs] the source 2 is not one of 2 nodes", Error);
  CHECK_THROWS_AS(bfs(path, -1), Error);
  CHECK_THROWS_AS(bfs(Matrix(0, 0), 0), Error);
}

TEST_CASE("bfs: predecessors lie on shortest paths, the lowest first, on random graphs") {
  NumpyRandom random(6);
  for (int sample = 0; sample < 200; ++sample) {
    const int n = 1 + sample % 12;
    const Trace trace = find_algorithm("bfs").sample(random, n, {.p = {0, 0.2, 0.4, 0.8, 1}});
    const Values &a = trace["A"], &pi = trace["pi"], &s = trace["s"];
    int source = 0, farthest = 0;
    while (s[source] == 0) ++source;
    const std::vector<int> distance = distances(a, n, source);
    for (int v = 0; v < n; ++v) {
      if (distance[v] < n) farthest = std::max(farthest, distance[v]);
      int expected = v;
      for (int u = n - 1; u >= 0; --u) {
        if (a[u * n + v] > 0 && distance[u] < n && distance[u] + 1 == distance[v]) expected = u;
      }
      REQUIRE(pi[v] == expected);
    }
    REQUIRE(trace.frames() == farthest + 1);
  }
}

}  // namespace
}  // namespace renar::bfs_test
