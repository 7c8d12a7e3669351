// Prim's minimum spanning tree (CLRS, 3rd edition 23.2, 4th edition 21.2; Prim, 1957).
//
// Output: pi(N), the parent of each node in a minimum spanning tree that grows from the source; the
// source and the nodes that it does not reach point to themselves. Hints: key, the lightest edge
// that joins a node to the tree; who is in the tree (mark), who waits (in_queue) and u, the node
// that was taken last. One frame before the first node and one after each.
//
// Where the benchmark leaves the textbook: the queue holds only nodes next to the tree, not all of
// them, so a key that was never set is 0, not infinite; a weight of 0 is no edge; and where the
// graph is not connected the tree spans the source's component alone.

#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& mst_prim_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"s", Stage::kInput, Location::kNode, Type::kMaskOne},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"pi", Stage::kOutput, Location::kNode, Type::kPointer},
      {"pi_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"key", Stage::kHint, Location::kNode, Type::kScalar},
      {"mark", Stage::kHint, Location::kNode, Type::kMask},
      {"in_queue", Stage::kHint, Location::kNode, Type::kMask},
      {"u", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Runs Prim's algorithm on the undirected graph `a`. Throws renar::Error on an input that is no
/// such graph or a source that is no node of it.
Trace mst_prim(const Matrix& a, int source) {
  check_graph(a);
  check_undirected("mst_prim", a);
  const int n = a.rows();
  check_source("mst_prim", source, n);
  Trace trace(mst_prim_spec(), n);
  trace.input({{"pos", positions(n)}, {"s", one_hot(source, n)}, {"A", a}, {"adj", adjacency(a)}});

  std::vector<double> key(n);
  const AdjacencyLists edges(a);
  MinQueue queue(n);
  queue.put(source, 0);
  Mask mark(n);
  std::vector<int> pi = self_pointers(n);
  int u = source;
  const auto record = [&] {
    trace.hint({{"pi_h", pi},
                {"key", key},
                {"mark", mark},
                {"in_queue", queue.nodes()},
                {"u", one_hot(u, n)}});
  };

  record();
  while ((u = queue.extract_min()) >= 0) {
    mark[u] = 1;
    for (const int v : edges.of(u)) {
      if (mark[v] == 0 && (!queue.holds(v) || a(u, v) < key[v])) {
        pi[v] = u;
        key[v] = a(u, v);
        queue.put(v, key[v]);
      }
    }
    record();
  }

  trace.output({{"pi", pi}});
  return trace;
}

namespace {

Trace sample_mst_prim(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  const Matrix a = random_weighted_er_graph(random, length, p, Edges::kUndirected);
  return mst_prim(a, random.choice(length));
}

Trace run_mst_prim(const UserInput& input) { return mst_prim(input.matrix("A"), input.index("s")); }

}  // namespace

Algorithm mst_prim_algorithm() {
  return {.name = "mst_prim",
          .category = Category::kGraphs,
          .spec = mst_prim_spec,
          .sample = sample_mst_prim,
          .inputs = {"A", "s"},
          .run = run_mst_prim,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
