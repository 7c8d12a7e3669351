// Articulation points by depth-first search (CLRS, 3rd edition problem 22-2, 4th edition 20-2;
// Hopcroft and Tarjan, 1973).
//
// Output: is_cut(N), 1 for the nodes whose removal cuts a connected component in two. low[u] is the
// earliest discovery time that the subtree of u reaches by one edge that is not of the tree. A root
// is a cut if it has two children (child_cnt), another node if no child reaches above it.
//
// The search is dfs.cpp's, with its stack, its frames and its times in steps of 0.01; each edge
// back to a node seen before, but for the parent, is a frame, too, whether it lowers low[u] or not.
//
// Where the benchmark leaves the textbook: child_cnt counts in hundredths; low[u] is recomputed and
// its frames recorded again each time that the search comes back to u, since the scan of u starts
// anew; a finished neighbour counts as an edge back, which changes nothing.

#include <algorithm>
#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& articulation_points_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"is_cut", Stage::kOutput, Location::kNode, Type::kMask},
      {"is_cut_h", Stage::kHint, Location::kNode, Type::kMask},
      {"pi_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"color", Stage::kHint, Location::kNode, Type::kCategorical, kColors},
      {"d", Stage::kHint, Location::kNode, Type::kScalar},
      {"f", Stage::kHint, Location::kNode, Type::kScalar},
      {"low", Stage::kHint, Location::kNode, Type::kScalar},
      {"child_cnt", Stage::kHint, Location::kNode, Type::kScalar},
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

/// Finds the articulation points of the undirected graph `a`. Throws renar::Error on an input that
/// is no such graph.
Trace articulation_points(const Matrix& a) {
  check_graph(a);
  check_undirected("articulation_points", a);
  const int n = a.rows();
  Trace trace(articulation_points_spec(), n);
  trace.input({{"pos", positions(n)}, {"A", a}, {"adj", adjacency(a)}});

  std::vector<int> color(n, kWhite), pi = self_pointers(n), s_prev = self_pointers(n);
  std::vector<double> d(n), f(n), low(n), child_cnt(n);
  Mask is_cut(n);
  double time = 0;
  int s = 0, u = 0, v = 0, s_last = 0;
  const auto record = [&] {
    trace.hint({{"is_cut_h", is_cut},
                {"pi_h", pi},
                {"color", one_hot_rows(color, kColors)},
                {"d", d},
                {"f", f},
                {"low", low},
                {"child_cnt", child_cnt},
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
        d[u] = low[u] = time;
        color[u] = kGray;
        record();
      }

      for (int j = 0; j < n; ++j) {  // look for a white neighbour
        v = j;
        if (a(u, v) == 0) continue;
        if (color[v] == kWhite) {
          pi[v] = u;
          color[v] = kGray;
          s_prev[v] = s_last;  // push v
          s_last = v;
          child_cnt[u] += 0.01;
          record();
          break;
        }
        if (v != pi[u]) {  // an edge back
          low[u] = std::min(low[u], d[v]);
          record();
        }
      }

      if (s_last == u) {  // none left: finish u
        color[u] = kBlack;
        time += 0.01;
        f[u] = time;

        for (int child = 0; child < n; ++child) {
          if (pi[child] != u || child == u) continue;
          low[u] = std::min(low[u], low[child]);
          if (pi[u] != u && low[child] >= d[u]) is_cut[u] = 1;
        }
        if (pi[u] == u && child_cnt[u] > 0.01) is_cut[u] = 1;
        record();

        if (s_prev[u] == u) break;  // u is the root: this tree is done
        s_last = s_prev[u];         // pop u
        s_prev[u] = u;
      }
      u = s_last;
    }
  }

  trace.output({{"is_cut", is_cut}});
  return trace;
}

namespace {

Trace sample_articulation_points(NumpyRandom& random, int length, const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  return articulation_points(random_er_graph(random, length, p, Edges::kUndirected));
}

Trace run_articulation_points(const UserInput& input) {
  return articulation_points(input.matrix("A"));
}

}  // namespace

Algorithm articulation_points_algorithm() {
  return {.name = "articulation_points",
          .category = Category::kGraphs,
          .spec = articulation_points_spec,
          .sample = sample_articulation_points,
          .inputs = {"A"},
          .run = run_articulation_points,
          .dataset = {.p = {0.2}},
          .training = sparse_to_half()};
}

}  // namespace renar
