// Breadth-first search (CLRS, 3rd edition 22.2, 4th edition 20.2; Moore, 1959).
//
// Output: pi(N), the predecessor of each node in the breadth-first tree; the source and the nodes
// that it does not reach point to themselves. Hints: reach_h, who is reached so far, and pi_h.
//
// Where the benchmark leaves the textbook: there is no queue and no distance. The whole frontier
// moves at once, one frame a sweep over all edges, until a sweep reaches nobody new; of several
// possible predecessors the one with the lowest index wins.
//
// Where we leave the benchmark: it passes over edges of negative weight, which its sampler cannot
// make, though they stand in adj.

#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& bfs_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"s", Stage::kInput, Location::kNode, Type::kMaskOne},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"pi", Stage::kOutput, Location::kNode, Type::kPointer},
      {"reach_h", Stage::kHint, Location::kNode, Type::kMask},
      {"pi_h", Stage::kHint, Location::kNode, Type::kPointer},
  };
  return spec;
}

}  // namespace

/// Runs breadth-first search on the graph `a`. Throws renar::Error on an input that is no graph or
/// a source that is no node of it.
Trace bfs(const Matrix& a, int source) {
  check_graph(a);
  const int n = a.rows();
  check_source("bfs", source, n);
  Trace trace(bfs_spec(), n);
  trace.input({{"pos", positions(n)}, {"s", one_hot(source, n)}, {"A", a}, {"adj", adjacency(a)}});

  Mask reach = one_hot(source, n), reached_before;
  std::vector<int> pi = self_pointers(n);
  while (reach != reached_before) {
    trace.hint({{"reach_h", reach}, {"pi_h", pi}});
    reached_before = reach;
    for (int u = 0; u < n; ++u) {
      if (reached_before[u] == 0) continue;
      for (int v = 0; v < n; ++v) {
        if (a(u, v) == 0) continue;
        if (pi[v] == v && v != source) pi[v] = u;
        reach[v] = 1;
      }
    }
  }

  trace.output({{"pi", pi}});
  return trace;
}

namespace {

Trace sample_bfs(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  const Matrix a = random_er_graph(random, length, p, Edges::kUndirected);
  return bfs(a, random.choice(length));
}

Trace run_bfs(const UserInput& input) { return bfs(input.matrix("A"), input.index("s")); }

}  // namespace

Algorithm bfs_algorithm() {
  return {.name = "bfs",
          .category = Category::kGraphs,
          .spec = bfs_spec,
          .sample = sample_bfs,
          .inputs = {"A", "s"},
          .run = run_bfs,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
