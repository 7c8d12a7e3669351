// A largest matching of a bipartite graph, as a maximum flow (CLRS, 3rd edition 26.3, 4th edition
// 24.3; Edmonds and Karp, 1972).
//
// The n left and m right nodes become a flow network of N = n + m + 2 nodes: the source s = 0, the
// left nodes, the right nodes, the sink t = N - 1; edges of capacity 1 lead from s to the left, by
// the graph's edges to the right, and on to t. A search over the residual network A_h from s, a
// sweep over all edges a frame (phase 0, d counts edges), ends when a sweep reaches t; its path is
// turned round, from u = t back to s, a frame an edge (phase 1); until a search fails to reach t.
//
// Output: in_matching(N,N), 1 on the edges that carry flow, those of s and t among them, 0 on the
// others and against the direction of all, -1 (masked out) where there is no edge either way.
//
// Where the benchmark leaves the textbook: the diagonal of in_matching is 1; in phase 1 d and msk
// are those before the last sweep, while pi has seen it; u is t during a search, but s in the first
// frame after a path; there is no queue, and of several predecessors the lowest wins.
//
// A user gives the graph, not the network: {"edges": n x m table}, a row a left node, a column a
// right node, 1 where they may be matched, 0 where not.

#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& bipartite_matching_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"s", Stage::kInput, Location::kNode, Type::kMaskOne},
      {"t", Stage::kInput, Location::kNode, Type::kMaskOne},
      {"in_matching", Stage::kOutput, Location::kEdge, Type::kMask},
      {"in_matching_h", Stage::kHint, Location::kEdge, Type::kMask},
      {"A_h", Stage::kHint, Location::kEdge, Type::kScalar},
      {"adj_h", Stage::kHint, Location::kEdge, Type::kMask},
      {"d", Stage::kHint, Location::kNode, Type::kScalar},
      {"msk", Stage::kHint, Location::kNode, Type::kMask},
      {"pi", Stage::kHint, Location::kNode, Type::kPointer},
      {"u", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"phase", Stage::kHint, Location::kGraph, Type::kMask},
  };
  return spec;
}

/// The flow network (N,N) of the edges (n,m) between the left and the right nodes.
Matrix flow_network(const Matrix& edges) {
  const int left = edges.rows(), right = edges.columns(), t = left + right + 1;
  Matrix a(t + 1, t + 1);
  for (int i = 0; i < left; ++i) {
    a(0, 1 + i) = 1;
    for (int j = 0; j < right; ++j) {
      RENAR_CHECK(edges(i, j) == 0 || edges(i, j) == 1,
                  "[bipartite_matching] edges({}, {}) = {}: 1 is an edge, 0 is none", i, j,
                  edges(i, j));
      a(1 + i, 1 + left + j) = edges(i, j);
    }
  }
  for (int j = 0; j < right; ++j) a(1 + left + j, t) = 1;
  return a;
}

}  // namespace

/// Matches the left nodes (rows) with the right nodes (columns) of a bipartite graph. Throws
/// renar::Error on numbers that are neither 0 nor 1, and unless there is a left node.
Trace bipartite_matching(const Matrix& edges) {
  RENAR_CHECK(edges.rows() >= 1, "[bipartite_matching] {} left nodes, give at least one",
              edges.rows());
  Matrix a = flow_network(edges);
  const int n = a.rows(), s = 0, t = n - 1;
  MaskMatrix adj = adjacency(a);
  Trace trace(bipartite_matching_spec(), n);
  trace.input(
      {{"pos", positions(n)}, {"A", a}, {"adj", adj}, {"s", one_hot(s, n)}, {"t", one_hot(t, n)}});

  MaskMatrix in_matching(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) in_matching(i, j) = adj(i, j) + adj(j, i) - 1;  // -1: masked out
  }
  std::vector<double> d, d_before;
  Mask msk, msk_before;
  std::vector<int> pi;
  int u = t;
  double phase = 0;
  const auto record = [&] {
    trace.hint({{"in_matching_h", in_matching},
                {"A_h", a},
                {"adj_h", adj},
                {"d", d_before},
                {"msk", msk_before},
                {"pi", pi},
                {"u", one_hot(u, n)},
                {"phase", phase}});
  };

  while (true) {
    phase = 0;
    d.assign(n, 0);
    msk = one_hot(s, n);
    pi = self_pointers(n);
    while (pi[t] == t) {  // search for a path from s to t
      d_before = d;
      msk_before = msk;
      record();
      for (u = 0; u < n; ++u) {
        if (msk_before[u] == 0) continue;
        for (int v = 0; v < n; ++v) {
          if (a(u, v) == 0 || (msk[v] != 0 && d_before[u] + a(u, v) >= d[v])) continue;
          d[v] = d_before[u] + a(u, v);
          pi[v] = u;
          msk[v] = 1;
        }
      }
      u = t;
      if (d == d_before) {  // none left: the flow is a maximum
        trace.output({{"in_matching", in_matching}});
        return trace;
      }
    }

    phase = 1;
    record();
    while (pi[u] != u) {  // one unit more along the path, from its end
      const int from = pi[u];
      if (from < u) {
        in_matching(from, u) = 1;
      } else {
        in_matching(u, from) = 0;  // the path takes a flow back
      }
      a(from, u) = adj(from, u) = 0;
      a(u, from) = adj(u, from) = 1;
      u = from;
      record();
    }
  }
}

namespace {

/// `length` counts the nodes of the graph; those of the network are two more.
Trace sample_bipartite_matching(NumpyRandom& random, int length, const SamplerParams& params) {
  const int right = length / 2, left = length - right;
  const double p = choose_edge_probability(random, params);
  return bipartite_matching(random_bipartite_graph(random, left, right, p));
}

Trace run_bipartite_matching(const UserInput& input) {
  constexpr int kMostNodes = 256;
  const Matrix edges = input.table("edges");
  RENAR_USAGE(edges.rows() + edges.columns() <= kMostNodes,
              "bipartite_matching: {} nodes on the left and {} on the right, at most {} together",
              edges.rows(), edges.columns(), kMostNodes);
  return bipartite_matching(edges);
}

}  // namespace

Algorithm bipartite_matching_algorithm() {
  return {.name = "bipartite_matching",
          .category = Category::kGraphs,
          .spec = bipartite_matching_spec,
          .sample = sample_bipartite_matching,
          .inputs = {"edges"},
          .run = run_bipartite_matching,
          .dataset = {.p = {0.3}},
          .training = sparse_to_half(),
          .in_clrs30 = false};
}

}  // namespace renar
