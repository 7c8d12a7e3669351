// Floyd and Warshall's shortest paths between all pairs (CLRS, 3rd edition 25.2, 4th edition 23.2;
// Floyd, 1962).
//
// Output: Pi(N,N), the predecessor of j on a shortest path from i. Hints: the distances D so far,
// and who has one (msk). Round k lets paths pass through node k; one frame before each round.
//
// Where the benchmark leaves the textbook: a weight of 0 is no edge; D starts with the weights of
// the self-loops on its diagonal, not with 0, so a node with a self-loop gets the cheapest way
// round and back to itself, and Pi(i, i) is often not i; where j is out of reach, Pi(i, j) is i,
// as if there were an edge, and D is 0: msk alone tells.
//
// Where we leave the benchmark: a negative cycle is refused, since D would hold no distances.

#include <cmath>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& floyd_warshall_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"Pi", Stage::kOutput, Location::kEdge, Type::kPointer},
      {"Pi_h", Stage::kHint, Location::kEdge, Type::kPointer},
      {"D", Stage::kHint, Location::kEdge, Type::kScalar},
      {"msk", Stage::kHint, Location::kEdge, Type::kMask},
      {"k", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Runs the Floyd-Warshall algorithm on the directed graph `a`. Throws renar::Error on an input
/// that is no graph, a negative cycle, or weights whose sums overflow.
Trace floyd_warshall(const Matrix& a) {
  check_graph(a);
  const int n = a.rows();
  Trace trace(floyd_warshall_spec(), n);
  Matrix d = a;
  MaskMatrix msk = adjacency(a);
  IntMatrix pi(n, n);
  trace.input({{"pos", positions(n)}, {"A", a}, {"adj", msk}});

  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) pi(i, j) = i;
  }
  for (int k = 0; k < n; ++k) {
    trace.hint({{"Pi_h", pi}, {"D", d}, {"msk", msk}, {"k", one_hot(k, n)}});
    // In place, as D(k, k) is not negative: round k leaves its own row and column as they are.
    for (int i = 0; i < n; ++i) {
      if (msk(i, k) == 0) continue;
      for (int j = 0; j < n; ++j) {
        if (msk(k, j) == 0) continue;
        if (msk(i, j) == 0 || d(i, k) + d(k, j) < d(i, j)) {
          d(i, j) = d(i, k) + d(k, j);
          pi(i, j) = pi(k, j);
          msk(i, j) = 1;
        }
      }
    }
    for (int i = 0; i < n; ++i) {
      RENAR_CHECK(d(i, i) >= 0,
                  "[floyd_warshall] node {} lies on a negative cycle: there are no shortest paths "
                  "(an undirected edge of negative weight is such a cycle)",
                  i);
    }
  }
  for (const double distance : d.values()) {
    RENAR_CHECK(std::isfinite(distance), "[floyd_warshall] a distance of {}: give smaller weights",
                distance);
  }

  trace.output({{"Pi", pi}});
  return trace;
}

namespace {

Trace sample_floyd_warshall(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  return floyd_warshall(random_weighted_er_graph(random, length, p, Edges::kUndirected));
}

Trace run_floyd_warshall(const UserInput& input) { return floyd_warshall(input.matrix("A")); }

}  // namespace

Algorithm floyd_warshall_algorithm() {
  return {.name = "floyd_warshall",
          .category = Category::kGraphs,
          .spec = floyd_warshall_spec,
          .sample = sample_floyd_warshall,
          .inputs = {"A"},
          .run = run_floyd_warshall,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
