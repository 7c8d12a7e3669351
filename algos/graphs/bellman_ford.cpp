// Bellman and Ford's shortest paths from one source (CLRS, 3rd edition 24.1, 4th edition 22.1;
// Bellman, 1958).
//
// Output: pi(N), the predecessor of each node on a shortest path; the source and the nodes that it
// does not reach point to themselves. Hints: the estimates d and who has one (msk). One frame a
// sweep over all edges, until a sweep changes nothing.
//
// Where the benchmark leaves the textbook: a sweep reads the estimates of the sweep before, so
// after k sweeps d is the shortest walk of at most k edges, and of equal ones the lowest
// predecessor wins; an estimate that was never set is 0, not infinite; a weight of 0 is no edge.
//
// Where we leave the benchmark: it sweeps for ever on a negative cycle and stops too early where a
// path of length 0 is all that a sweep found. Neither can come out of its sampler.

#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& bellman_ford_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"s", Stage::kInput, Location::kNode, Type::kMaskOne},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"pi", Stage::kOutput, Location::kNode, Type::kPointer},
      {"pi_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"d", Stage::kHint, Location::kNode, Type::kScalar},
      {"msk", Stage::kHint, Location::kNode, Type::kMask},
  };
  return spec;
}

}  // namespace

/// Runs the Bellman-Ford algorithm on the graph `a`. Throws renar::Error on an input that is no
/// graph, a source that is no node of it, or a negative cycle that the source reaches.
Trace bellman_ford(const Matrix& a, int source) {
  check_graph(a);
  const int n = a.rows();
  check_source("bellman_ford", source, n);
  Trace trace(bellman_ford_spec(), n);
  trace.input({{"pos", positions(n)}, {"s", one_hot(source, n)}, {"A", a}, {"adj", adjacency(a)}});

  std::vector<double> d(n), d_before;
  Mask msk = one_hot(source, n), msk_before;
  std::vector<int> pi = self_pointers(n);
  while (d != d_before || msk != msk_before) {
    // A shortest path has at most n - 1 edges, so sweep n is the last that may run, for nothing.
    RENAR_CHECK(trace.frames() < n,
                "[bellman_ford] source {} reaches a negative cycle: there are no shortest paths "
                "(an undirected edge of negative weight is such a cycle)",
                source);
    trace.hint({{"pi_h", pi}, {"d", d}, {"msk", msk}});
    d_before = d;
    msk_before = msk;
    for (int u = 0; u < n; ++u) {
      if (msk_before[u] == 0) continue;
      for (int v = 0; v < n; ++v) {
        if (a(u, v) == 0) continue;
        if (msk[v] == 0 || d_before[u] + a(u, v) < d[v]) {
          d[v] = d_before[u] + a(u, v);
          pi[v] = u;
        }
        msk[v] = 1;
      }
    }
  }

  trace.output({{"pi", pi}});
  return trace;
}

namespace {

Trace sample_bellman_ford(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  const Matrix a = random_weighted_er_graph(random, length, p, Edges::kUndirected);
  return bellman_ford(a, random.choice(length));
}

Trace run_bellman_ford(const UserInput& input) {
  return bellman_ford(input.matrix("A"), input.index("s"));
}

}  // namespace

Algorithm bellman_ford_algorithm() {
  return {.name = "bellman_ford",
          .category = Category::kGraphs,
          .spec = bellman_ford_spec,
          .sample = sample_bellman_ford,
          .inputs = {"A", "s"},
          .run = run_bellman_ford,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
