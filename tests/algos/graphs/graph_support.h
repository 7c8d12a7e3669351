// What the tests of graph algorithms share: the algorithms themselves, small random graphs of every
// density, and a few plain statements about graphs that no algorithm under test is used for.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "algos/matrix.h"
#include "algos/samplers.h"
#include "algos/trace.h"

namespace renar {

Trace articulation_points(const Matrix& a);  // algos/graphs/<name>.cpp
Trace bellman_ford(const Matrix& a, int source);
Trace bfs(const Matrix& a, int source);
Trace bipartite_matching(const Matrix& edges);
Trace bridges(const Matrix& a);
Trace dag_shortest_paths(const Matrix& a, int source);
Trace dfs(const Matrix& a);
Trace dijkstra(const Matrix& a, int source);
Trace floyd_warshall(const Matrix& a);
Trace mst_kruskal(const Matrix& a);
Trace mst_prim(const Matrix& a, int source);
Trace strongly_connected_components(const Matrix& a);
Trace topological_sort(const Matrix& a);

namespace test {

using Values = std::vector<double>;

struct Edge {
  int from, to;
  double weight = 1;
};

/// A graph of these edges alone.
inline Matrix directed(int nodes, std::initializer_list<Edge> edges) {
  Matrix a(nodes, nodes);
  for (const Edge& e : edges) a(e.from, e.to) = e.weight;
  return a;
}

/// The last frame of a hint, or the one value of an input or output.
inline Values last_frame(const Trace& trace, const std::string& name) {
  const Values all = trace[name];
  const std::size_t probe = trace.spec().index_of(name);
  const std::size_t count = count_of(trace.spec()[probe], trace.nodes());
  return Values(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
}

/// Graphs of 1 to 16 nodes, from edgeless to complete, self-loops included (but in acyclic ones).
/// Weights are whole numbers from 1 to `heaviest`, so that sums are exact and many are equal.
class RandomGraphs {
 public:
  explicit RandomGraphs(std::uint32_t seed) : random_(seed) {}

  int number(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }

  Matrix next(Edges edges, int heaviest = 1) {
    const int n = number(1, 16), percent = density();
    Matrix a(n, n);
    std::vector<int> rank(static_cast<std::size_t>(n));
    for (int& r : rank) r = number(0, 1000);
    for (int u = 0; u < n; ++u) {
      for (int v = 0; v < n; ++v) {
        if (number(1, 100) > percent) continue;
        if (edges == Edges::kAcyclic && rank[u] >= rank[v]) continue;
        a(u, v) = number(1, heaviest);
        if (edges == Edges::kUndirected) a(v, u) = a(u, v);
      }
    }
    return a;
  }

  /// The edges (left, right) of a bipartite graph of 1 to 8 nodes on each side.
  Matrix next_bipartite() {
    Matrix edges(number(1, 8), number(1, 8));
    const int percent = density();
    for (int i = 0; i < edges.rows(); ++i) {
      for (int j = 0; j < edges.columns(); ++j) edges(i, j) = number(1, 100) <= percent ? 1 : 0;
    }
    return edges;
  }

 private:
  int density() {
    constexpr int kPercent[] = {0, 5, 10, 15, 25, 40, 70, 100};
    return kPercent[number(0, 7)];
  }

  std::mt19937 random_;
};

/// A set of at most 32 nodes, one bit each.
using Nodes = std::uint32_t;

inline bool has(Nodes nodes, int node) { return (nodes >> node & 1) != 0; }
inline Nodes all_nodes(const Matrix& a) { return static_cast<Nodes>((1ull << a.rows()) - 1); }

/// What can be reached from `start` by edges whose ends lie in `within`; `start` itself is.
inline Nodes reachable(const Matrix& a, int start, Nodes within) {
  Nodes found = 1u << start, before = 0;
  while (found != before) {
    before = found;
    for (int u = 0; u < a.rows(); ++u) {
      for (int v = 0; v < a.rows(); ++v) {
        if (has(before, u) && has(within, v) && a(u, v) != 0) found |= 1u << v;
      }
    }
  }
  return found;
}

/// The number of connected components that an undirected graph has on these nodes.
inline int components(const Matrix& a, Nodes within) {
  int count = 0;
  while (within != 0) {
    within &= ~reachable(a, std::countr_zero(within), within);
    ++count;
  }
  return count;
}

}  // namespace test
}  // namespace renar
