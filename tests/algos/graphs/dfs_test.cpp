// Depth-first search: a graph by hand, the edge cases, and CLRS's theorems on random graphs.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "algos/matrix.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
Trace dfs(const Matrix& a);  // algos/graphs/dfs.cpp
}  // namespace renar

namespace renar::dfs_test {
namespace {

using Values = std::vector<double>;

/// The last frame of a node hint.
Values last(const Trace& trace, const std::string& name) {
  const Values& all = trace[name];
  return {all.end() - trace.nodes(), all.end()};
}

/// An edge matrix from a list of (from, to).
Matrix graph(int n, const std::vector<std::pair<int, int>>& edges) {
  Matrix a(n, n);
  for (const auto& [u, v] : edges) a(u, v) = 1;
  return a;
}

std::vector<int> hundredths(const Values& times) {
  std::vector<int> rounded;
  for (const double time : times) rounded.push_back(static_cast<int>(std::lround(100 * time)));
  return rounded;
}

TEST_CASE("dfs: the graph of CLRS, figure 22.4 / 20.4") {
  // u v w x y z = 0..5; the textbook's times, in hundredths.
  const Trace trace =
      dfs(graph(6, {{0, 1}, {0, 3}, {1, 4}, {2, 4}, {2, 5}, {3, 1}, {4, 3}, {5, 5}}));
  CHECK(trace["pi"] == Values{0, 0, 2, 4, 1, 2});
  CHECK(trace.frames() == 18);
  CHECK(hundredths(last(trace, "d")) == std::vector<int>{1, 2, 9, 4, 3, 10});
  CHECK(hundredths(last(trace, "f")) == std::vector<int>{8, 7, 12, 5, 6, 11});
}

TEST_CASE("dfs: the frames of two nodes, one by one") {
  const Trace trace = dfs(graph(2, {{0, 1}}));
  CHECK(trace["pos"] == Values{0, 0.5});
  CHECK(trace["adj"] == Values{1, 1, 0, 1});
  CHECK(trace["pi"] == Values{0, 0});
  // root 0, discover 0, see 1, discover 1, finish 1, finish 0
  CHECK(hundredths(trace["time"]) == std::vector<int>{0, 1, 1, 2, 3, 4});
  CHECK(trace["u"] == Values{1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0});
  CHECK(trace["v"] == Values{1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1});  // stays where a scan ended
  CHECK(trace["s"] == Values{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0});
  CHECK(trace["s_last"] == Values{1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0});
  CHECK(trace["s_prev"] == Values{0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1});
  CHECK(trace["pi_h"] == Values{0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(trace["color"] == Values(one_hot_rows({0, 0, 1, 0, 1, 1, 1, 1, 1, 2, 2, 2}, 3)));
}

TEST_CASE("dfs: one node, no edges, all edges") {
  CHECK(dfs(Matrix(1, 1))["pi"] == Values{0});
  CHECK(dfs(Matrix(1, 1)).frames() == 3);
  CHECK(dfs(graph(1, {{0, 0}}))["pi"] == Values{0});
  for (const int n : {2, 3, 20}) {
    Matrix complete(n, n);
    Values chain, roots;
    for (int i = 0; i < n; ++i) {
      chain.push_back(i == 0 ? 0 : i - 1);
      roots.push_back(i);
      for (int j = 0; j < n; ++j) complete(i, j) = 1;
    }
    CHECK(dfs(complete)["pi"] == chain);
    CHECK(dfs(Matrix(n, n))["pi"] == roots);
    CHECK(dfs(Matrix(n, n)).frames() == 3 * n);
  }
  CHECK_THROWS_AS(dfs(Matrix(0, 0)), Error);
  CHECK_THROWS_WITH_AS(dfs(Matrix(2, 3)),
                       "[graphs] a graph is a square matrix of at least one node, not 2 x 3",
                       Error);
  Matrix infinite(2, 2);
  infinite(0, 1) = INFINITY;
  CHECK_THROWS_AS(dfs(infinite), Error);
}

TEST_CASE("dfs: tree edges, parentheses and black nodes on random graphs") {
  NumpyRandom random(5);
  for (int sample = 0; sample < 200; ++sample) {
    const int n = 1 + sample % 12;
    const Trace trace = find_algorithm("dfs").sample(random, n, {.p = {0, 0.1, 0.3, 0.6, 1}});
    const Values &a = trace["A"], &pi = trace["pi"], d = last(trace, "d"), f = last(trace, "f");
    const std::vector<int> black(static_cast<std::size_t>(n), 2);
    const Values colors = trace["color"], final_color(colors.end() - 3 * n, colors.end());
    REQUIRE(final_color == Values(one_hot_rows(black, 3)));
    REQUIRE(trace.frames() == 3 * n);
    for (int v = 0; v < n; ++v) {
      const int u = static_cast<int>(pi[v]);
      REQUIRE((u == v || a[u * n + v] == 1));
      REQUIRE((u == v || (d[u] < d[v] && f[v] < f[u])));  // a child lies inside its parent
      for (int w = 0; w < n; ++w) {
        // Intervals are nested or disjoint, and no edge leads from a finished node to a white one.
        REQUIRE_FALSE((d[v] < d[w] && d[w] < f[v] && f[v] < f[w]));
        REQUIRE_FALSE((a[v * n + w] == 1 && f[v] < d[w]));
      }
    }
  }
}

}  // namespace
}  // namespace renar::dfs_test
