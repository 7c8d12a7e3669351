// What the tables of dynamic programming promise, on thousands of random inputs full of ties: the
// answers read from them are as good as those of independent algorithms.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "algos/registry.h"
#include "tests/algos/awkward.h"

namespace renar {
Trace matrix_chain_order(const std::vector<double>& p);  // algos/dynamic_programming/<name>.cpp
Trace lcs_length(const std::vector<int>& first, const std::vector<int>& second);
Trace optimal_bst(const std::vector<double>& p, const std::vector<double>& q);
}  // namespace renar

namespace renar::dynamic_programming_properties_test {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The cost of multiplying matrices i .. j in the best order: every split is tried.
struct BestChain {
  const Values& p;
  std::map<std::pair<int, int>, double> known = {};

  double cost(int i, int j) {
    if (i == j) return 0;
    const auto found = known.find({i, j});
    if (found != known.end()) return found->second;
    double best = kInfinity;
    for (int k = i; k < j; ++k) {
      best = std::min(best, cost(i, k) + cost(k + 1, j) + p[i - 1] * p[k] * p[j]);
    }
    return known[{i, j}] = best;
  }
};

/// The cost of multiplying them in the order that the table s says.
double chain_cost(const Values& p, const Values& s, int i, int j) {
  if (i == j) return 0;
  const int k = static_cast<int>(s[i * p.size() + j]);
  REQUIRE(i <= k);
  REQUIRE(k < j);
  return chain_cost(p, s, i, k) + chain_cost(p, s, k + 1, j) + p[i - 1] * p[k] * p[j];
}

TEST_CASE("matrix_chain_order: the order read from s is a best one") {
  NumpyRandom random(1);
  for (int sample = 0; sample < 2000; ++sample) {
    const int n = 1 + sample % 20;
    Values p = awkward_numbers(random, n, 1, 4);
    const Trace trace = matrix_chain_order(p);
    REQUIRE(trace.frames() <= std::max(n, 1));
    const Values s = trace["s"], m = trace["m"];
    BestChain best{p};
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        if (i == 0 || j <= i) {
          REQUIRE(s[i * n + j] == 0);
          continue;
        }
        REQUIRE(chain_cost(p, s, i, j) == doctest::Approx(best.cost(i, j)).epsilon(1e-13));
        REQUIRE(m[((trace.frames() - 1) * n + i) * n + j] == chain_cost(p, s, i, j));
      }
    }
  }
}

/// The length of a longest common subsequence as that of a longest rising run of matching places
/// (Hunt and Szymanski, 1977).
std::size_t common_length(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> ends;  // ends[l]: the lowest place in b where a run of l + 1 can end
  for (const int letter : a) {
    for (int j = static_cast<int>(b.size()) - 1; j >= 0; --j) {
      if (b[j] != letter) continue;
      const auto place = std::lower_bound(ends.begin(), ends.end(), j);
      if (place == ends.end()) {
        ends.push_back(j);
      } else {
        *place = j;
      }
    }
  }
  return ends.size();
}

/// The class that is marked on the edge (i,j) of the arrows (N,N,4); -1 on a blank edge.
int arrow(const Values& arrows, int nodes, int i, int j) {
  const double* classes = &arrows[(i * nodes + j) * 4];
  return classes[3] == -1 ? -1 : static_cast<int>(std::find(classes, classes + 4, 1.0) - classes);
}

TEST_CASE("lcs_length: the arrows spell a common subsequence, and no longer one exists") {
  NumpyRandom random(2);
  for (int sample = 0; sample < 3000; ++sample) {
    const int n = static_cast<int>(random.randint(1, 21)), m = 1 + sample % 20;
    const int alphabet = static_cast<int>(random.randint(1, 5)), nodes = n + m;
    const std::vector<int> a = random_string(random, n, alphabet);
    const std::vector<int> b = random_string(random, m, alphabet);
    const Trace trace = lcs_length(a, b);
    const Values arrows = trace["b"], c = trace["c"];

    std::size_t length = 0;
    for (int i = n - 1, j = m - 1; i >= 0 && j >= 0;) {
      const int step = arrow(arrows, nodes, i, n + j);
      if (step == 0) {
        REQUIRE(a[i] == b[j]);
        ++length;
      }
      REQUIRE(step >= 0);
      REQUIRE(step < 3);
      i -= step == 2 ? 0 : 1;
      j -= step == 1 ? 0 : 1;
    }
    REQUIRE(length == common_length(a, b));
    REQUIRE(c[((trace.frames() - 1) * nodes + n - 1) * nodes + nodes - 1] == length);
    int misplaced = 0;
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j < nodes; ++j) {
        misplaced += (arrow(arrows, nodes, i, j) == -1) != (i >= n || j < n) ? 1 : 0;
      }
    }
    REQUIRE(misplaced == 0);
  }
}

/// The expected cost of the best tree over the keys i .. j-1: every root is tried.
struct BestTree {
  const Values &p, &q;
  std::map<std::pair<int, int>, double> known = {};

  double cost(int i, int j) {
    if (i == j) return q[i];
    const auto found = known.find({i, j});
    if (found != known.end()) return found->second;
    double weight = q[i], best = kInfinity;
    for (int r = i; r < j; ++r) weight += p[r] + q[r + 1];
    for (int r = i; r < j; ++r) best = std::min(best, cost(i, r) + cost(r + 1, j));
    return known[{i, j}] = best + weight;
  }
};

/// The expected cost, by its definition, of the tree that the roots say: a search for a key costs
/// its depth + 1, one that ends in a gap the depth of that gap + 1.
double tree_cost(const Values& p, const Values& q, const Values& root, int i, int j, int depth) {
  if (i == j) return q[i] * (depth + 1);
  const int r = static_cast<int>(root[i * q.size() + j]);
  REQUIRE(i <= r);
  REQUIRE(r < j);
  return p[r] * (depth + 1) + tree_cost(p, q, root, i, r, depth + 1) +
         tree_cost(p, q, root, r + 1, j, depth + 1);
}

TEST_CASE("optimal_bst: the tree read from the roots has the least expected cost") {
  NumpyRandom random(3);
  for (int sample = 0; sample < 2000; ++sample) {
    const int n = 1 + sample % 20;
    const Values p = awkward_numbers(random, n, 0, 3), q = awkward_numbers(random, n + 1, 0, 3);
    const Trace trace = optimal_bst(p, q);
    REQUIRE(trace.nodes() == n + 1);
    REQUIRE(trace.frames() == n + 1);
    const Values root = trace["root"], e = trace["e"];
    const double found = tree_cost(p, q, root, 0, n, 0);
    REQUIRE(found == doctest::Approx(BestTree{p, q}.cost(0, n)).epsilon(1e-13));
    REQUIRE(e[(n * (n + 1)) * (n + 1) + n] == doctest::Approx(found).epsilon(1e-13));
  }
}

TEST_CASE("optimal_bst: the sampler's probabilities sum to 1") {
  NumpyRandom random(4);
  for (int n = 1; n <= 70; ++n) {
    const Trace trace = find_algorithm("optimal_bst").sample(random, n, {});
    double sum = 0;
    for (const double x : trace["p"]) sum += x;
    for (const double x : trace["q"]) sum += x;
    CHECK(sum == doctest::Approx(1).epsilon(1e-14));
    CHECK(trace["p"].back() == 0);
  }
}

}  // namespace
}  // namespace renar::dynamic_programming_properties_test
