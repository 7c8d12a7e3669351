// Topological sort by depth-first search (CLRS, 3rd edition 22.4, 4th edition 20.4; Knuth, 1973).
//
// Output: the order as a linked list. topo(N) is the node that follows each node, the last points
// to itself; topo_head is the first one. Nodes go to the front of the list as they finish. The
// recursion is written out as a stack, as in dfs.cpp: s_prev points from a node to the one below
// it, s_last is the top. A frame is recorded at each new root, its discovery, each visit to a
// white neighbour and each finish: 2N frames and one more for each root.
//
// Where the benchmark leaves the textbook: a neighbour is painted gray when it is put on the stack,
// so only roots have a frame for their discovery; nodes that are not in the list yet
// point to themselves, as the last one does; and topo_head starts as node 0.

#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& topological_sort_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"topo", Stage::kOutput, Location::kNode, Type::kPointer},
      {"topo_head", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"topo_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"topo_head_h", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"color", Stage::kHint, Location::kNode, Type::kCategorical, kColors},
      {"s_prev", Stage::kHint, Location::kNode, Type::kPointer},
      {"s", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"u", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"v", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"s_last", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Sorts the nodes of the directed graph `a`. Throws renar::Error on an input that is no graph or
/// that has a cycle; a self-loop is one.
Trace topological_sort(const Matrix& a) {
  check_graph(a);
  const int n = a.rows();
  Trace trace(topological_sort_spec(), n);
  trace.input({{"pos", positions(n)}, {"A", a}, {"adj", adjacency(a)}});

  std::vector<int> color(n, kWhite), topo = self_pointers(n), s_prev = self_pointers(n);
  int topo_head = 0, s = 0, u = 0, v = 0, s_last = 0;
  const auto record = [&] {
    trace.hint({{"topo_h", topo},
                {"topo_head_h", one_hot(topo_head, n)},
                {"color", one_hot_rows(color, kColors)},
                {"s_prev", s_prev},
                {"s", one_hot(s, n)},
                {"u", one_hot(u, n)},
                {"v", one_hot(v, n)},
                {"s_last", one_hot(s_last, n)}});
  };

  for (s = 0; s < n; ++s) {
    if (color[s] != kWhite) continue;
    u = v = s_last = s;  // a new root
    record();

    while (true) {
      if (color[u] == kWhite) {  // discover the root
        color[u] = kGray;
        record();
      }

      for (int j = 0; j < n; ++j) {  // look for a white neighbour
        v = j;
        if (a(u, v) == 0) continue;
        RENAR_CHECK(
            color[v] != kGray,
            "[topological_sort] the edge from {} to {} closes a cycle: give an acyclic graph", u,
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

        if (s_prev[u] == u) break;  // u is the root: this tree is done
        s_last = s_prev[u];         // pop u
        s_prev[u] = u;
      }
      u = s_last;
    }
  }

  trace.output({{"topo", topo}, {"topo_head", one_hot(topo_head, n)}});
  return trace;
}

namespace {

Trace sample_topological_sort(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  return topological_sort(random_er_graph(random, length, p, Edges::kAcyclic));
}

Trace run_topological_sort(const UserInput& input) { return topological_sort(input.matrix("A")); }

}  // namespace

Algorithm topological_sort_algorithm() {
  return {.name = "topological_sort",
          .category = Category::kGraphs,
          .spec = topological_sort_spec,
          .sample = sample_topological_sort,
          .inputs = {"A"},
          .run = run_topological_sort,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
