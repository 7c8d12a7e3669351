// Searches and what they find, on thousands of small random graphs: each against a plain statement
// of what its answer means.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "tests/algos/graphs/graph_support.h"

namespace renar::test::search_properties_test {
namespace {

constexpr int kGraphs = 1500;

/// The recursion of CLRS: DFS and DFS-VISIT, neighbours in the order of their numbers.
struct TextbookSearch {
  explicit TextbookSearch(const Matrix& graph) : a(graph) {
    for (int u = 0; u < a.rows(); ++u) {
      if (d[u] == 0) visit(u);
    }
  }

  void visit(int u) {
    d[u] = ++time;
    for (int v = 0; v < a.rows(); ++v) {
      if (a(u, v) == 0 || d[v] != 0) continue;
      pi[v] = u;
      visit(v);
    }
    f[u] = ++time;
  }

  const Matrix& a;
  std::vector<int> pi = self_pointers(a.rows());
  std::vector<int> d = std::vector<int>(pi.size()), f = d;
  int time = 0;
};

std::vector<int> hundredths(const Values& times) {
  std::vector<int> rounded;
  for (const double time : times) rounded.push_back(static_cast<int>(std::lround(100 * time)));
  return rounded;
}

}  // namespace

TEST_CASE("graphs: bfs, the way back along pi is as short as any walk") {
  RandomGraphs random(1);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(sample % 2 == 0 ? Edges::kDirected : Edges::kUndirected, 3);
    const int n = a.rows(), source = random.number(0, n - 1);
    const Values pi = bfs(a, source)["pi"];

    // The nodes that walks of exactly `hops` edges reach, one set after another.
    std::vector<int> fewest(static_cast<std::size_t>(n), -1);
    Nodes ends = 1u << source;
    for (int hops = 0; hops < n; ++hops) {
      Nodes next = 0;
      for (int u = 0; u < n; ++u) {
        if (!has(ends, u)) continue;
        if (fewest[u] < 0) fewest[u] = hops;
        for (int v = 0; v < n; ++v) next |= a(u, v) != 0 ? 1u << v : 0;
      }
      ends = next;
    }
    for (int v = 0; v < n; ++v) {
      const int u = static_cast<int>(pi[v]);
      if (fewest[v] <= 0) {
        REQUIRE(u == v);  // the source, or out of reach
      } else {
        REQUIRE(a(u, v) != 0);
        REQUIRE(fewest[u] == fewest[v] - 1);
      }
    }
  }
}

TEST_CASE("graphs: dfs has the predecessors and times of the textbook's recursion") {
  RandomGraphs random(2);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(sample % 2 == 0 ? Edges::kDirected : Edges::kUndirected);
    const TextbookSearch expected(a);
    const Trace trace = dfs(a);
    const Values pi = trace["pi"];
    REQUIRE(std::vector<int>(pi.begin(), pi.end()) == expected.pi);
    REQUIRE(hundredths(last_frame(trace, "d")) == expected.d);
    REQUIRE(hundredths(last_frame(trace, "f")) == expected.f);
  }
}

// CLRS's parenthesis and white-path theorems (3rd edition 22.7 and 22.9, 4th edition 20.7, 20.9).
TEST_CASE("graphs: dfs, the nodes inside another's interval are those on white paths from it") {
  RandomGraphs random(3);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(Edges::kDirected);
    const int n = a.rows();
    const Trace trace = dfs(a);
    const Values d = last_frame(trace, "d"), f = last_frame(trace, "f");
    for (int u = 0; u < n; ++u) {
      Nodes white = 0, inside = 0;
      for (int v = 0; v < n; ++v) {
        if (d[v] > d[u]) white |= 1u << v;
        if (d[u] <= d[v] && f[v] <= f[u]) inside |= 1u << v;
        REQUIRE_FALSE((d[u] < d[v] && d[v] < f[u] && f[u] < f[v]));  // nested or disjoint
      }
      REQUIRE(inside == reachable(a, u, white));
    }
  }
}

TEST_CASE("graphs: topological_sort lists each node once, and each edge leads forward") {
  RandomGraphs random(4);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(Edges::kAcyclic, 2);
    const int n = a.rows();
    const Trace trace = topological_sort(a);
    const Values topo = trace["topo"], head = trace["topo_head"];
    std::vector<int> place(static_cast<std::size_t>(n), -1);
    int u = 0;
    while (head[u] == 0) ++u;
    for (int i = 0; i < n; ++i) {
      REQUIRE(place[u] == -1);
      place[u] = i;
      const int next = static_cast<int>(topo[u]);
      REQUIRE((next == u) == (i == n - 1));
      u = next;
    }
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) REQUIRE((a(from, to) == 0 || place[from] < place[to]));
    }
  }
}

TEST_CASE("graphs: strongly connected components are the nodes that reach one another") {
  RandomGraphs random(5);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(sample % 5 == 0 ? Edges::kUndirected : Edges::kDirected);
    const int n = a.rows();
    const Values id = strongly_connected_components(a)["scc_id"];
    const TextbookSearch search(a);
    std::vector<Nodes> reach;
    for (int u = 0; u < n; ++u) reach.push_back(reachable(a, u, all_nodes(a)));
    for (int u = 0; u < n; ++u) {
      int last = u;
      for (int v = 0; v < n; ++v) {
        const bool together = has(reach[u], v) && has(reach[v], u);
        REQUIRE(together == (id[u] == id[v]));
        if (together && search.f[v] > search.f[last]) last = v;
      }
      REQUIRE(id[u] == last);
    }
  }
}

TEST_CASE("graphs: without an articulation point its graph has more components") {
  RandomGraphs random(6);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(Edges::kUndirected, 2);
    const Values is_cut = articulation_points(a)["is_cut"];
    const int whole = components(a, all_nodes(a));
    for (int u = 0; u < a.rows(); ++u) {
      const bool cuts = components(a, all_nodes(a) & ~(1u << u)) > whole;
      REQUIRE(is_cut[u] == (cuts ? 1 : 0));
    }
  }
}

TEST_CASE("graphs: without a bridge its graph has more components") {
  RandomGraphs random(7);
  for (int sample = 0; sample < kGraphs; ++sample) {
    CAPTURE(sample);
    const Matrix a = random.next(Edges::kUndirected, 2);
    const int n = a.rows(), whole = components(a, all_nodes(a));
    const Values is_bridge = bridges(a)["is_bridge"];
    Matrix without = a;
    for (int u = 0; u < n; ++u) {
      for (int v = 0; v < n; ++v) {
        without(u, v) = without(v, u) = 0;
        const bool cuts = components(without, all_nodes(a)) > whole;
        without(u, v) = without(v, u) = a(u, v);
        const int expected = u == v ? 0 : a(u, v) == 0 ? -1 : cuts ? 1 : 0;
        REQUIRE(is_bridge[u * n + v] == expected);
      }
    }
  }
}

}  // namespace renar::test::search_properties_test
