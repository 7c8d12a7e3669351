// Kruskal's minimum spanning tree (CLRS, 3rd edition 23.2 and 21.3, 4th edition 21.2 and 19.3;
// Kruskal, 1956).
//
// Output: in_mst(N,N), 1 on the edges of a minimum spanning forest, both ways. Edges are taken from
// the lightest on; u and v are the ends of the present one. pi(N) holds the disjoint sets as trees.
// FIND-SET climbs from u to root_u (phase 1), then from v to root_v (phase 2), one frame a step;
// mask_u and mask_v are the nodes on the way. Phase 0 is the frame after the union, and the first.
//
// Where the benchmark leaves the textbook: no union by rank, the larger root becomes the parent;
// paths are compressed on the way up, at each step all nodes below, not in a second pass; the first
// frame shows node 0 as u, v and both roots; self-loops and edges of weight 0 do not count.
//
// Where we leave the benchmark: it passes over edges of negative weight, which its sampler cannot
// make, and equal weights have no certain order there; here the edge of lower u, then v, is first.

#include <algorithm>
#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"

namespace renar {
namespace {

enum KruskalPhase { kUnion, kFindU, kFindV };
constexpr int kKruskalPhases = 3;

const Spec& mst_kruskal_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"in_mst", Stage::kOutput, Location::kEdge, Type::kMask},
      {"in_mst_h", Stage::kHint, Location::kEdge, Type::kMask},
      {"pi", Stage::kHint, Location::kNode, Type::kPointer},
      {"u", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"v", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"root_u", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"root_v", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"mask_u", Stage::kHint, Location::kNode, Type::kMask},
      {"mask_v", Stage::kHint, Location::kNode, Type::kMask},
      {"phase", Stage::kHint, Location::kGraph, Type::kCategorical, kKruskalPhases},
  };
  return spec;
}

struct Edge {
  int u, v;
  double weight;
};

/// The edges u < v of an undirected graph from the lightest on.
std::vector<Edge> sorted_edges(const Matrix& a) {
  std::vector<Edge> edges;
  for (int u = 0; u < a.rows(); ++u) {
    for (int v = u + 1; v < a.rows(); ++v) {
      if (a(u, v) != 0) edges.push_back({u, v, a(u, v)});
    }
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const Edge& x, const Edge& y) { return x.weight < y.weight; });
  return edges;
}

}  // namespace

/// Runs Kruskal's algorithm on the undirected graph `a`. Throws renar::Error on an input that is no
/// such graph.
Trace mst_kruskal(const Matrix& a) {
  check_graph(a);
  check_undirected("mst_kruskal", a);
  const int n = a.rows();
  Trace trace(mst_kruskal_spec(), n);
  trace.input({{"pos", positions(n)}, {"A", a}, {"adj", adjacency(a)}});

  MaskMatrix in_mst(n, n);
  std::vector<int> pi = self_pointers(n);
  Mask mask_u(n), mask_v(n);
  int u = 0, v = 0, root_u = 0, root_v = 0;
  const auto record = [&](KruskalPhase phase) {
    trace.hint({{"in_mst_h", in_mst},
                {"pi", pi},
                {"u", one_hot(u, n)},
                {"v", one_hot(v, n)},
                {"root_u", one_hot(root_u, n)},
                {"root_v", one_hot(root_v, n)},
                {"mask_u", mask_u},
                {"mask_v", mask_v},
                {"phase", one_hot(phase, kKruskalPhases)}});
  };
  const auto find_set = [&](int& root, Mask& mask, KruskalPhase phase) {
    while (pi[root] != root) {
      root = pi[root];
      for (int i = 0; i < n; ++i) {
        if (mask[i] != 0) pi[i] = root;
      }
      mask[root] = 1;
      record(phase);
    }
  };

  record(kUnion);
  for (const Edge& edge : sorted_edges(a)) {
    root_u = u = edge.u;
    root_v = v = edge.v;
    mask_u = one_hot(u, n);
    mask_v = one_hot(v, n);
    record(kFindU);
    find_set(root_u, mask_u, kFindU);
    find_set(root_v, mask_v, kFindV);

    if (root_u != root_v) {
      in_mst(u, v) = in_mst(v, u) = 1;
      pi[std::min(root_u, root_v)] = std::max(root_u, root_v);
    }
    record(kUnion);
  }

  trace.output({{"in_mst", in_mst}});
  return trace;
}

namespace {

Trace sample_mst_kruskal(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  return mst_kruskal(random_weighted_er_graph(random, length, p, Edges::kUndirected));
}

Trace run_mst_kruskal(const UserInput& input) { return mst_kruskal(input.matrix("A")); }

}  // namespace

Algorithm mst_kruskal_algorithm() {
  return {.name = "mst_kruskal",
          .category = Category::kGraphs,
          .spec = mst_kruskal_spec,
          .sample = sample_mst_kruskal,
          .inputs = {"A"},
          .run = run_mst_kruskal,
          .dataset = {.p = {0.2}},
          .training = sparse_to_half()};
}

}  // namespace renar
