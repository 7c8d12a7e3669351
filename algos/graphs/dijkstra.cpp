// Dijkstra's shortest paths from one source (CLRS, 3rd edition 24.3, 4th edition 22.3; Dijkstra,
// 1959).
//
// Output: pi(N), the predecessor of each node on a shortest path; the source and the nodes that it
// does not reach point to themselves. Hints: the estimates d, who is done (mark), who waits
// (in_queue) and u, the node that was taken last. One frame before the first node and one after
// each.
//
// Where the benchmark leaves the textbook: the queue holds only nodes that an edge has reached, not
// all of them, so an estimate that was never set is 0, not infinite; and a weight of 0 is no edge.

#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& dijkstra_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"s", Stage::kInput, Location::kNode, Type::kMaskOne},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"pi", Stage::kOutput, Location::kNode, Type::kPointer},
      {"pi_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"d", Stage::kHint, Location::kNode, Type::kScalar},
      {"mark", Stage::kHint, Location::kNode, Type::kMask},
      {"in_queue", Stage::kHint, Location::kNode, Type::kMask},
      {"u", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Runs Dijkstra's algorithm on the graph `a`. Throws renar::Error on an input that is no graph, on
/// a negative weight, or on a source that is no node of the graph.
Trace dijkstra(const Matrix& a, int source) {
  check_graph(a);
  const int n = a.rows();
  check_source("dijkstra", source, n);
  for (const double weight : a.values()) {
    RENAR_CHECK(weight >= 0, "[dijkstra] an edge of weight {}: bellman_ford takes negative ones",
                weight);
  }
  Trace trace(dijkstra_spec(), n);
  trace.input({{"pos", positions(n)}, {"s", one_hot(source, n)}, {"A", a}, {"adj", adjacency(a)}});

  std::vector<double> d(n);
  const AdjacencyLists edges(a);
  MinQueue queue(n);
  queue.put(source, 0);
  Mask mark(n);
  std::vector<int> pi = self_pointers(n);
  int u = source;
  const auto record = [&] {
    trace.hint({{"pi_h", pi},
                {"d", d},
                {"mark", mark},
                {"in_queue", queue.nodes()},
                {"u", one_hot(u, n)}});
  };

  record();
  while ((u = queue.extract_min()) >= 0) {
    mark[u] = 1;
    for (const int v : edges.of(u)) {  // relax the edges that leave u
      if (mark[v] == 0 && (!queue.holds(v) || d[u] + a(u, v) < d[v])) {
        pi[v] = u;
        d[v] = d[u] + a(u, v);
        queue.put(v, d[v]);
      }
    }
    record();
  }

  trace.output({{"pi", pi}});
  return trace;
}

namespace {

Trace sample_dijkstra(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  const Matrix a = random_weighted_er_graph(random, length, p, Edges::kUndirected);
  return dijkstra(a, random.choice(length));
}

Trace run_dijkstra(const UserInput& input) { return dijkstra(input.matrix("A"), input.index("s")); }

}  // namespace

Algorithm dijkstra_algorithm() {
  return {.name = "dijkstra",
          .category = Category::kGraphs,
          .spec = dijkstra_spec,
          .sample = sample_dijkstra,
          .inputs = {"A", "s"},
          .run = run_dijkstra,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
