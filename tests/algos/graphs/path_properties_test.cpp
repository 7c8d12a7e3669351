// Shortest paths, spanning trees and matchings on thousands of small random graphs: each answer
// against conditions that hold for right answers only, or against all possible ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "tests/algos/graphs/graph_support.h"

namespace renar::test::path_properties_test {
namespace {

constexpr int kGraphs = 1500;

/// The lengths of the paths that lead back along pi to the source. Fails the test unless they are
/// shortest paths: all nodes within reach have one, made of edges, the others and the source point
/// to themselves, and no edge is a short cut.
struct PathLengths {
  PathLengths(const Matrix& a, int source, const Values& pi) : length(pi.size()) {
    const int n = a.rows();
    const Nodes reached = reachable(a, source, all_nodes(a));
    for (int v = 0; v < n; ++v) {
      REQUIRE((pi[v] == v) == (v == source || !has(reached, v)));
      int edges = 0;
      for (int w = v; pi[w] != w; w = static_cast<int>(pi[w])) {
        const int u = static_cast<int>(pi[w]);
        REQUIRE(a(u, w) != 0);
        REQUIRE(++edges < n);  // a path, not a cycle
        length[v] += a(u, w);
      }
      REQUIRE((edges > 0) == (v != source && has(reached, v)));
    }
    for (int u = 0; u < n; ++u) {
      for (int v = 0; v < n; ++v) {
        if (has(reached, u) && a(u, v) != 0) REQUIRE(length[v] <= length[u] + a(u, v));
      }
    }
  }

  Values length;  // 0 out of reach, as the benchmark's d
};

/// Row i of floyd_warshall's Pi (N,N) as the pi of other algorithms: i and the nodes out of its
/// reach point to themselves. Fails the test unless Pi has i for those out of reach.
Values paths_from(const Matrix& a, int i, const Values& all_pi) {
  const Nodes reached = reachable(a, i, all_nodes(a));
  Values pi(static_cast<std::size_t>(a.rows()));
  for (int j = 0; j < a.rows(); ++j) {
    pi[j] = all_pi[i * a.rows() + j];
    if (!has(reached, j)) REQUIRE(pi[j] == i);
    if (j == i || !has(reached, j)) pi[j] = j;
  }
  return pi;
}

/// Adds h(u) - h(v) to each edge for random h: every cycle keeps its weight, so negative edges come
/// without negative cycles; edges that become 0 vanish.
void shift(Matrix& a, RandomGraphs& random) {
  Values h(static_cast<std::size_t>(a.rows()));
  for (double& x : h) x = random.number(0, 5);
  for (int u = 0; u < a.rows(); ++u) {
    for (int v = 0; v < a.rows(); ++v) {
      if (a(u, v) != 0) a(u, v) += h[u] - h[v];
    }
  }
}

}  // namespace

TEST_CASE("graphs: four algorithms find shortest paths of the same lengths") {
  RandomGraphs random(11);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Edges kind = sample % 3 == 0   ? Edges::kDirected
                       : sample % 3 == 1 ? Edges::kUndirected
                                         : Edges::kAcyclic;
    const Matrix a = random.next(kind, random.number(1, 4));
    const int source = random.number(0, a.rows() - 1);
    const Trace by_dijkstra = dijkstra(a, source), by_sweeps = bellman_ford(a, source);
    const Values length = PathLengths(a, source, by_dijkstra["pi"]).length;
    REQUIRE(PathLengths(a, source, by_sweeps["pi"]).length == length);
    REQUIRE(last_frame(by_dijkstra, "d") == length);
    REQUIRE(last_frame(by_sweeps, "d") == length);
    const Values all_pi = floyd_warshall(a)["Pi"];
    REQUIRE(PathLengths(a, source, paths_from(a, source, all_pi)).length == length);
    if (kind != Edges::kAcyclic) continue;
    const Trace by_order = dag_shortest_paths(a, source);
    REQUIRE(PathLengths(a, source, by_order["pi"]).length == length);
    REQUIRE(last_frame(by_order, "d") == length);
  }
}

TEST_CASE("graphs: negative edges without negative cycles have shortest paths") {
  RandomGraphs random(12);
  for (int sample = 0; sample < kGraphs / 3; ++sample) {
    CAPTURE(sample);
    Matrix a = random.next(sample % 2 == 0 ? Edges::kDirected : Edges::kAcyclic, 3);
    shift(a, random);
    const Values all_pi = floyd_warshall(a)["Pi"];
    for (int source = 0; source < a.rows(); ++source) {
      const Trace trace = bellman_ford(a, source);
      const Values length = PathLengths(a, source, trace["pi"]).length;
      REQUIRE(last_frame(trace, "d") == length);
      REQUIRE(PathLengths(a, source, paths_from(a, source, all_pi)).length == length);
      if (sample % 2 == 0) continue;
      REQUIRE(PathLengths(a, source, dag_shortest_paths(a, source)["pi"]).length == length);
    }
  }
}

TEST_CASE("graphs: floyd_warshall, the way back to a node with a self-loop") {
  RandomGraphs random(13);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(sample % 2 == 0 ? Edges::kDirected : Edges::kUndirected, 6);
    const int n = a.rows();
    const Values all_pi = floyd_warshall(a)["Pi"];
    for (int i = 0; i < n; ++i) {
      const Nodes reached = reachable(a, i, all_nodes(a));
      const Values length = PathLengths(a, i, paths_from(a, i, all_pi)).length;
      double round = a(i, i);  // the cheapest way back to i, where a self-loop is one
      for (int j = 0; j < n; ++j) {
        if (has(reached, j) && a(j, i) != 0) round = std::min(round, length[j] + a(j, i));
      }
      const int last = static_cast<int>(all_pi[i * n + i]);
      if (a(i, i) == 0 || round == a(i, i)) {
        REQUIRE(last == i);
      } else {
        REQUIRE(length[last] + a(last, i) == round);
      }
    }
  }
}

// D of frame k: the lengths of paths whose inner nodes are all below k.
TEST_CASE("graphs: floyd_warshall's frame k is about paths through the nodes below k") {
  RandomGraphs random(14);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(Edges::kDirected, 4);
    const int n = a.rows();
    if (n > 7) continue;
    const Trace trace = floyd_warshall(a);
    const Values d = trace["D"], msk = trace["msk"];
    REQUIRE(trace.frames() == n);
    for (int k = 0; k < n; ++k) {
      for (int i = 0; i < n; ++i) {
        Matrix allowed = a;  // edges that start at i or below k
        for (int u = k; u < n; ++u) {
          for (int v = 0; v < n; ++v) allowed(u, v) = u == i ? a(u, v) : 0;
        }
        const Values length = PathLengths(allowed, i, bellman_ford(allowed, i)["pi"]).length;
        const Nodes reached = reachable(allowed, i, all_nodes(a));
        for (int j = 0; j < n; ++j) {
          const int cell = k * n * n + i * n + j;
          REQUIRE((msk[cell] == 1) == has(reached, j));
          if (i != j) REQUIRE(d[cell] == length[j]);
        }
      }
    }
  }
}

namespace {

/// A forest of a graph's edges as a graph of its own.
struct Forest {
  explicit Forest(int n) : edges(n, n) {}

  void add(const Matrix& a, int u, int v) {
    REQUIRE(a(u, v) != 0);
    REQUIRE(u != v);
    edges(u, v) = edges(v, u) = a(u, v);
  }
  double weight(Nodes within) const {
    double sum = 0;
    for (int u = 0; u < edges.rows(); ++u) {
      for (int v = 0; v < u; ++v) sum += has(within, u) && has(within, v) ? edges(u, v) : 0;
    }
    return sum;
  }
  /// Fails the test unless it is a minimum spanning forest of the nodes `within`, a union of the
  /// graph's components: as connected as the graph, with the fewest edges for that, and every edge
  /// outside is at least as heavy as those of the path that joins its ends.
  void check_minimal(const Matrix& a, Nodes within) const {
    const int n = a.rows();
    int count = 0;
    for (int u = 0; u < n; ++u) {
      for (int v = 0; v < u; ++v) {
        if (edges(u, v) != 0) ++count;
        if (a(u, v) == 0 || edges(u, v) != 0 || !has(within, u)) continue;
        Matrix lighter = edges;
        for (int i = 0; i < n; ++i) {
          for (int j = 0; j < n; ++j) {
            if (edges(i, j) > a(u, v)) lighter(i, j) = 0;
          }
        }
        REQUIRE(has(reachable(lighter, u, within), v));
      }
    }
    REQUIRE(components(edges, within) == components(a, within));
    REQUIRE(count == std::popcount(within) - components(a, within));
  }

  Matrix edges;  // (N,N)
};

Forest forest_of_kruskal(const Matrix& a) {
  const Values in_mst = mst_kruskal(a)["in_mst"];
  Forest forest(a.rows());
  for (int u = 0; u < a.rows(); ++u) {
    for (int v = 0; v < a.rows(); ++v) {
      REQUIRE(in_mst[u * a.rows() + v] == in_mst[v * a.rows() + u]);
      if (in_mst[u * a.rows() + v] != 0) forest.add(a, u, v);
    }
  }
  return forest;
}

}  // namespace

TEST_CASE("graphs: mst_kruskal and mst_prim find spanning forests that no edge can improve") {
  RandomGraphs random(15);
  for (int sample = 0; sample < kGraphs / 3; ++sample) {
    CAPTURE(sample);
    Matrix a = random.next(Edges::kUndirected, random.number(1, 4));
    const int n = a.rows();
    const double down = sample % 3 == 0 ? 2.5 : 0;  // negative weights, too
    for (int u = 0; u < n; ++u) {
      for (int v = 0; v < n; ++v) a(u, v) -= a(u, v) != 0 ? down : 0;
    }
    const Forest kruskal = forest_of_kruskal(a);
    kruskal.check_minimal(a, all_nodes(a));

    for (int source = 0; source < n; ++source) {
      const Nodes component = reachable(a, source, all_nodes(a));
      const Values pi = mst_prim(a, source)["pi"];
      Forest prim(n);
      for (int v = 0; v < n; ++v) {
        REQUIRE((pi[v] == v) == (v == source || !has(component, v)));
        if (pi[v] != v) prim.add(a, static_cast<int>(pi[v]), v);
      }
      prim.check_minimal(a, component);
      REQUIRE(prim.weight(component) == kruskal.weight(component));
    }
  }
}

namespace {

/// The size of the largest matching, by trying all.
int largest_matching(const Matrix& edges) {
  std::vector<int> best(std::size_t{1} << edges.columns(), -1);  // by the right nodes used
  best[0] = 0;
  for (int i = 0; i < edges.rows(); ++i) {
    for (std::size_t used = best.size(); used-- > 0;) {
      for (int j = 0; j < edges.columns(); ++j) {
        const std::size_t bit = std::size_t{1} << j;
        if ((used & bit) == 0 || edges(i, j) == 0 || best[used - bit] < 0) continue;
        best[used] = std::max(best[used], best[used - bit] + 1);
      }
    }
  }
  return *std::max_element(best.begin(), best.end());
}

}  // namespace

TEST_CASE("graphs: bipartite_matching finds a matching, and there is no larger one") {
  RandomGraphs random(16);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix edges = random.next_bipartite();
    const int left = edges.rows(), right = edges.columns(), n = left + right + 2;
    const Trace trace = bipartite_matching(edges);
    const Values in_matching = trace["in_matching"], a = trace["A"],
                 residual = last_frame(trace, "A_h");
    REQUIRE(trace.nodes() == n);
    std::vector<int> flow_in(static_cast<std::size_t>(n)), flow_out(static_cast<std::size_t>(n));
    for (int u = 0; u < n; ++u) {
      for (int v = 0; v < n; ++v) {
        const int there = u * n + v, back = v * n + u;
        if (u == v || (a[there] == 0 && a[back] == 0)) {
          REQUIRE(in_matching[there] == (u == v ? 1 : -1));
        } else if (a[there] == 0) {
          REQUIRE(in_matching[there] == 0);
          REQUIRE(residual[there] == in_matching[back]);
        } else {
          REQUIRE(residual[there] == 1 - in_matching[there]);
          flow_out[u] += in_matching[there] == 1 ? 1 : 0;
          flow_in[v] += in_matching[there] == 1 ? 1 : 0;
        }
      }
    }
    for (int u = 1; u < n - 1; ++u) {
      REQUIRE(flow_in[u] == flow_out[u]);
      REQUIRE(flow_in[u] <= 1);
    }
    for (int i = 0; i < left; ++i) {
      for (int j = 0; j < right; ++j) REQUIRE(a[(1 + i) * n + 1 + left + j] == edges(i, j));
    }
    REQUIRE(flow_out[0] == flow_in[n - 1]);
    REQUIRE(flow_in[n - 1] == largest_matching(edges));
  }
}

}  // namespace renar::test::path_properties_test
