// Depth-first search (CLRS, 3rd edition 22.3, 4th edition 20.3; Moore, 1959).
//
// Output: pi(N), the predecessor of each node in the depth-first forest, a root's is itself. The
// recursion of DFS-VISIT is written out as a stack: s_prev points from a node to the one below it,
// s_last is the top. A frame is recorded at each new root, each discovery, each visit to a white
// neighbour and each finish: 3N frames, whatever the graph.
//
// Where the benchmark leaves the textbook: time goes up by 0.01, not by 1; a neighbour is painted
// gray when it is put on the stack, one frame before its discovery time is set; the hint v keeps
// the index at which the last scan ended; and nodes off the stack point to themselves in s_prev.

#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& dfs_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"pi", Stage::kOutput, Location::kNode, Type::kPointer},
      {"pi_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"color", Stage::kHint, Location::kNode, Type::kCategorical, kColors},
      {"d", Stage::kHint, Location::kNode, Type::kScalar},
      {"f", Stage::kHint, Location::kNode, Type::kScalar},
      {"s_prev", Stage::kHint, Location::kNode, Type::kPointer},
      {"s", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"u", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"v", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"s_last", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"time", Stage::kHint, Location::kGraph, Type::kScalar},
  };
  return spec;
}

}  // namespace

/// Runs depth-first search on the graph `a`. Throws renar::Error on an input that is no graph.
Trace dfs(const Matrix& a) {
  check_graph(a);
  const int n = a.rows();
  Trace trace(dfs_spec(), n);
  trace.input({{"pos", positions(n)}, {"A", a}, {"adj", adjacency(a)}});

  std::vector<int> color(n, kWhite), pi = self_pointers(n), s_prev = self_pointers(n);
  std::vector<double> d(n), f(n);
  double time = 0;
  int s = 0, u = 0, v = 0, s_last = 0;
  const auto record = [&] {
    trace.hint({{"pi_h", pi},
                {"color", one_hot_rows(color, kColors)},
                {"d", d},
                {"f", f},
                {"s_prev", s_prev},
                {"s", one_hot(s, n)},
                {"u", one_hot(u, n)},
                {"v", one_hot(v, n)},
                {"s_last", one_hot(s_last, n)},
                {"time", time}});
  };

  for (s = 0; s < n; ++s) {
    if (color[s] != kWhite) continue;
    u = v = s_last = s;  // a new root
    record();

    while (true) {
      if (d[u] == 0) {  // discover u
        time += 0.01;
        d[u] = time;
        color[u] = kGray;
        record();
      }

      for (int j = 0; j < n; ++j) {  // look for a white neighbour
        v = j;
        if (a(u, v) != 0 && color[v] == kWhite) {
          pi[v] = u;
          color[v] = kGray;
          s_prev[v] = s_last;  // push v
          s_last = v;
          record();
          break;
        }
      }

      if (s_last == u) {  // none left: finish u
        color[u] = kBlack;
        time += 0.01;
        f[u] = time;
        record();

        if (s_prev[u] == u) break;  // u is the root: this tree is done
        s_last = s_prev[u];         // pop u
        s_prev[u] = u;
      }
      u = s_last;
    }
  }

  trace.output({{"pi", pi}});
  return trace;
}

namespace {

Trace sample_dfs(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  return dfs(random_er_graph(random, length, p, Edges::kDirected));
}

Trace run_dfs(const UserInput& input) { return dfs(input.matrix("A")); }

}  // namespace

Algorithm dfs_algorithm() {
  return {.name = "dfs",
          .category = Category::kGraphs,
          .spec = dfs_spec,
          .sample = sample_dfs,
          .inputs = {"A"},
          .run = run_dfs,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
