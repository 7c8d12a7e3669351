// Shortest paths from one source in an acyclic graph (CLRS, 3rd edition 24.2, 4th edition 22.2).
//
// Output: pi(N), the predecessor of each node on a shortest path; the source and the nodes that it
// does not reach point to themselves. Phase 0 sorts the nodes topologically (topological_sort.cpp
// explains its hints); phase 1 relaxes the edges of each node in that order, one frame before each.
//
// Where the benchmark leaves the textbook: only what the source reaches is sorted, so the source
// comes first; the last node of the order has no edges to relax and only its frame is recorded;
// an estimate d that was never set is 0, not infinite (mark says who has one); a weight of 0 is no
// edge; the hints of phase 0 stay as they ended.

#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& dag_shortest_paths_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"s", Stage::kInput, Location::kNode, Type::kMaskOne},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"pi", Stage::kOutput, Location::kNode, Type::kPointer},
      {"pi_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"d", Stage::kHint, Location::kNode, Type::kScalar},
      {"mark", Stage::kHint, Location::kNode, Type::kMask},
      {"topo_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"topo_head_h", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"color", Stage::kHint, Location::kNode, Type::kCategorical, kColors},
      {"s_prev", Stage::kHint, Location::kNode, Type::kPointer},
      {"u", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"v", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"s_last", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"phase", Stage::kHint, Location::kGraph, Type::kMask},
  };
  return spec;
}

}  // namespace

/// Finds the shortest paths in the directed graph `a`. Throws renar::Error on an input that is no
/// graph, a source that is no node of it, or a cycle that the source reaches.
Trace dag_shortest_paths(const Matrix& a, int source) {
  check_graph(a);
  const int n = a.rows();
  check_source("dag_shortest_paths", source, n);
  Trace trace(dag_shortest_paths_spec(), n);
  trace.input({{"pos", positions(n)}, {"s", one_hot(source, n)}, {"A", a}, {"adj", adjacency(a)}});

  std::vector<int> pi = self_pointers(n), color(n, kWhite);
  std::vector<int> topo = self_pointers(n), s_prev = self_pointers(n);
  std::vector<double> d(n);
  Mask mark(n);
  int topo_head = 0, u = source, v = source, s_last = source;
  double phase = 0;
  const auto record = [&] {
    trace.hint({{"pi_h", pi},
                {"d", d},
                {"mark", mark},
                {"topo_h", topo},
                {"topo_head_h", one_hot(topo_head, n)},
                {"color", one_hot_rows(color, kColors)},
                {"s_prev", s_prev},
                {"u", one_hot(u, n)},
                {"v", one_hot(v, n)},
                {"s_last", one_hot(s_last, n)},
                {"phase", phase}});
  };

  record();
  while (true) {
    if (color[u] == kWhite) {  // discover the source
      color[u] = kGray;
      record();
    }

    for (int j = 0; j < n; ++j) {  // look for a white neighbour
      v = j;
      if (a(u, v) == 0) continue;
      RENAR_CHECK(
          color[v] != kGray,
          "[dag_shortest_paths] the edge from {} to {} closes a cycle: give an acyclic graph", u,
          v);
      if (color[v] == kWhite) {
        color[v] = kGray;
        s_prev[v] = s_last;  // push v
        s_last = v;
        record();
        break;
      }
    }

    if (s_last == u) {  // none left: finish u, put it before the nodes finished so far
      color[u] = kBlack;
      if (color[topo_head] == kBlack) topo[u] = topo_head;
      topo_head = u;
      record();

      if (s_prev[u] == u) break;  // u is the source: all are sorted
      s_last = s_prev[u];         // pop u
      s_prev[u] = u;
    }
    u = s_last;
  }

  phase = 1;
  mark[topo_head] = 1;  // the source, at distance 0
  for (; topo[topo_head] != topo_head; topo_head = topo[topo_head]) {
    record();
    for (int j = 0; j < n; ++j) {  // relax the edges that leave topo_head
      if (a(topo_head, j) == 0) continue;
      if (mark[j] == 0 || d[topo_head] + a(topo_head, j) < d[j]) {
        d[j] = d[topo_head] + a(topo_head, j);
        pi[j] = topo_head;
        mark[j] = 1;
      }
    }
  }
  record();

  trace.output({{"pi", pi}});
  return trace;
}

namespace {

Trace sample_dag_shortest_paths(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  const Matrix a = random_weighted_er_graph(random, length, p, Edges::kAcyclic);
  return dag_shortest_paths(a, random.choice(length));
}

Trace run_dag_shortest_paths(const UserInput& input) {
  return dag_shortest_paths(input.matrix("A"), input.index("s"));
}

}  // namespace

Algorithm dag_shortest_paths_algorithm() {
  return {.name = "dag_shortest_paths",
          .category = Category::kGraphs,
          .spec = dag_shortest_paths_spec,
          .sample = sample_dag_shortest_paths,
          .inputs = {"A", "s"},
          .run = run_dag_shortest_paths,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
