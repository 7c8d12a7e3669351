// Strongly connected components by two depth-first searches (CLRS, 3rd edition 22.5, 4th edition
// 20.5; Kosaraju, in Aho et al., 1974).
//
// Output: scc_id(N), each node points to the node of its component that finished last in phase 0.
// Phase 0 searches the graph, phase 1 its transpose A_t with the roots in the order of falling
// finishing times: each of its trees is a component. The search is dfs.cpp's, with its stack, its
// frames and its times in steps of 0.01; time runs on through phase 1.
//
// Where the benchmark leaves the textbook: d is not cleared between the phases, so in phase 1 only
// roots are discovered (a frame and a tick), all others keep the time of phase 0; f is overwritten
// node by node. The sampler's graphs have four communities, so it takes at least four nodes.

#include <algorithm>
#include <vector>

#include "algos/graphs/graphs.h"
#include "algos/registry.h"

namespace renar {
namespace {

const Spec& strongly_connected_components_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"adj", Stage::kInput, Location::kEdge, Type::kMask},
      {"scc_id", Stage::kOutput, Location::kNode, Type::kPointer},
      {"scc_id_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"A_t", Stage::kHint, Location::kEdge, Type::kMask},
      {"color", Stage::kHint, Location::kNode, Type::kCategorical, kColors},
      {"d", Stage::kHint, Location::kNode, Type::kScalar},
      {"f", Stage::kHint, Location::kNode, Type::kScalar},
      {"s_prev", Stage::kHint, Location::kNode, Type::kPointer},
      {"s", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"u", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"v", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"s_last", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"time", Stage::kHint, Location::kGraph, Type::kScalar},
      {"phase", Stage::kHint, Location::kGraph, Type::kMask},
  };
  return spec;
}

Matrix transposed(const Matrix& a) {
  Matrix transpose(a.columns(), a.rows());
  for (int i = 0; i < a.rows(); ++i) {
    for (int j = 0; j < a.columns(); ++j) transpose(j, i) = a(i, j);
  }
  return transpose;
}

}  // namespace

/// Finds the components of the directed graph `a`. Throws renar::Error on an input that
/// is no graph.
Trace strongly_connected_components(const Matrix& a) {
  check_graph(a);
  const int n = a.rows();
  Trace trace(strongly_connected_components_spec(), n);
  trace.input({{"pos", positions(n)}, {"A", a}, {"adj", adjacency(a)}});

  const Matrix a_t = transposed(a);
  const MaskMatrix adj_t = adjacency(a_t);
  std::vector<int> scc_id = self_pointers(n), color(n, kWhite), s_prev = self_pointers(n);
  std::vector<double> d(n), f(n);
  double time = 0, phase = 0;
  int s = 0, u = 0, v = 0, s_last = 0;
  const auto record = [&] {
    trace.hint({{"scc_id_h", scc_id},
                {"A_t", adj_t},
                {"color", one_hot_rows(color, kColors)},
                {"d", d},
                {"f", f},
                {"s_prev", s_prev},
                {"s", one_hot(s, n)},
                {"u", one_hot(u, n)},
                {"v", one_hot(v, n)},
                {"s_last", one_hot(s_last, n)},
                {"time", time},
                {"phase", phase}});
  };

  /// Grows the depth-first tree of root s in the graph or its transpose.
  const auto visit = [&](const Matrix& graph) {
    u = v = s_last = s;
    record();

    while (true) {
      if (phase == 1) scc_id[u] = s;
      if (color[u] == kWhite || d[u] == 0) {  // discover u
        time += 0.01;
        d[u] = time;
        color[u] = kGray;
        record();
      }

      for (int j = 0; j < n; ++j) {  // look for a white neighbour
        v = j;
        if (graph(u, v) != 0 && color[v] == kWhite) {
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
  };

  for (s = 0; s < n; ++s) {
    if (color[s] == kWhite) visit(a);
  }

  std::vector<int> by_finish = self_pointers(n);  // the last to finish comes first
  std::sort(by_finish.begin(), by_finish.end(), [&](int x, int y) { return f[x] > f[y]; });
  color.assign(color.size(), kWhite);
  s_prev = self_pointers(n);
  phase = 1;
  for (const int root : by_finish) {
    if (color[root] != kWhite) continue;
    s = root;
    visit(a_t);
  }

  trace.output({{"scc_id", scc_id}});
  return trace;
}

namespace {

constexpr int kCommunities = 4;
constexpr double kToggle = 0.01;

Trace sample_strongly_connected_components(NumpyRandom& random, int length,
                                           const SamplerParams& params) {
  const double p = choose_edge_probability(random, params);
  return strongly_connected_components(
      random_community_graph(random, length, kCommunities, p, kToggle));
}

Trace run_strongly_connected_components(const UserInput& input) {
  return strongly_connected_components(input.matrix("A"));
}

}  // namespace

Algorithm strongly_connected_components_algorithm() {
  return {.name = "strongly_connected_components",
          .category = Category::kGraphs,
          .spec = strongly_connected_components_spec,
          .sample = sample_strongly_connected_components,
          .inputs = {"A"},
          .run = run_strongly_connected_components,
          .dataset = {.p = {0.5}},
          .training = sparse_to_dense()};
}

}  // namespace renar
