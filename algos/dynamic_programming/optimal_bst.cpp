// Optimal binary search trees (CLRS, 3rd edition 15.5, 4th edition 14.5; Aho, Hopcroft and
// Ullman, 1974).
//
// Input: n keys, p[i] the probability that key i is searched, q[i] that the search ends in the gap
// before it, q[n] after the last; there are N = n + 1 nodes, and p is 0 at the last. Output:
// root(N,N): root[i,j] is the root of the best tree over the keys i .. j-1, 0 where j <= i. Hints:
// e(i,j), the expected cost of that tree, w(i,j), the sum of its probabilities, root_h, and msk,
// which trees are known. A frame is recorded before the first and after each length l: n + 1 in
// all. Of equally good roots the lowest wins.
//
// Where the benchmark leaves the textbook: keys count from 0, so the textbook's e[i + 1, j] stands
// at (i, j). The sampler draws p and q alike and divides them by their sum. Weights that do not sum
// to 1 are as good: the tree depends on their ratios.

#include <limits>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& optimal_bst_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"p", Stage::kInput, Location::kNode, Type::kScalar},
      {"q", Stage::kInput, Location::kNode, Type::kScalar},
      {"root", Stage::kOutput, Location::kEdge, Type::kPointer},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"root_h", Stage::kHint, Location::kEdge, Type::kPointer},
      {"e", Stage::kHint, Location::kEdge, Type::kScalar},
      {"w", Stage::kHint, Location::kEdge, Type::kScalar},
      {"msk", Stage::kHint, Location::kEdge, Type::kMask},
  };
  return spec;
}

void check_probabilities(const char* name, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    RENAR_CHECK(values[i] >= 0, "[optimal_bst] {}[{}] is {}, expected at least 0", name, i,
                values[i]);
  }
}

}  // namespace

/// Builds the search tree of the least expected cost for keys of probability p(n) and gaps of
/// q(n+1). Throws renar::Error unless there is a key, q is one longer than p, nothing is negative
/// and all costs are finite.
Trace optimal_bst(const std::vector<double>& p, const std::vector<double>& q) {
  RENAR_CHECK(!p.empty() && q.size() == p.size() + 1,
              "[optimal_bst] p has {} entries and q {}, expected at least one key and q one longer",
              p.size(), q.size());
  check_probabilities("p", p);
  check_probabilities("q", q);
  const int n = static_cast<int>(p.size()), nodes = n + 1;
  std::vector<double> padded_p = p;
  padded_p.push_back(0);
  Trace trace(optimal_bst_spec(), nodes);
  trace.input({{"pos", positions(nodes)}, {"p", padded_p}, {"q", q}});

  const std::vector<int> pred = predecessors(self_pointers(nodes));
  Matrix e(nodes, nodes), w(nodes, nodes);
  IntMatrix root(nodes, nodes);
  MaskMatrix known(nodes, nodes);
  const auto record = [&] {
    trace.hint({{"pred_h", pred}, {"root_h", root}, {"e", e}, {"w", w}, {"msk", known}});
  };

  for (int i = 0; i <= n; ++i) {
    e(i, i) = w(i, i) = q[i];
    known(i, i) = 1;
  }
  record();
  for (int l = 1; l <= n; ++l) {
    for (int i = 0; i <= n - l; ++i) {
      const int j = i + l;
      e(i, j) = std::numeric_limits<double>::infinity();
      w(i, j) = w(i, j - 1) + p[j - 1] + q[j];
      for (int r = i; r < j; ++r) {
        const double t = e(i, r) + e(r + 1, j) + w(i, j);
        if (t < e(i, j)) {
          e(i, j) = t;
          root(i, j) = r;
        }
      }
      known(i, j) = 1;
    }
    record();
  }

  trace.output({{"root", root}});
  return trace;
}

namespace {

Trace sample_optimal_bst(NumpyRandom& random, int length, const SamplerParams&) {
  std::vector<double> p = random_sequence(random, length), q = random_sequence(random, length + 1);
  std::vector<double> all = p;
  all.insert(all.end(), q.begin(), q.end());
  const double total = pairwise_sum(all);
  for (double& probability : p) probability /= total;
  for (double& probability : q) probability /= total;
  return optimal_bst(p, q);
}

Trace run_optimal_bst(const UserInput& input) {
  return optimal_bst(input.list("p"), input.list("q"));
}

}  // namespace

Algorithm optimal_bst_algorithm() {
  return {.name = "optimal_bst",
          .category = Category::kDynamicProgramming,
          .spec = optimal_bst_spec,
          .sample = sample_optimal_bst,
          .inputs = {"p", "q"},
          .run = run_optimal_bst,
          .pred_is_input = true};
}

}  // namespace renar
