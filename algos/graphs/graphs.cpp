#include "algos/graphs/graphs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/check.h"

namespace renar {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();  // above all keys

}  // namespace

void check_graph(const Matrix& a) {
  RENAR_CHECK(a.rows() == a.columns() && a.rows() >= 1,
              "[graphs] a graph is a square matrix of at least one node, not {} x {}", a.rows(),
              a.columns());
  const auto finite = [](double weight) { return std::isfinite(weight); };
  if (std::count_if(a.values().begin(), a.values().end(), finite) == std::ssize(a.values())) return;
  const auto wrong = std::find_if_not(a.values().begin(), a.values().end(), finite);
  throw Error(message_of("[graphs] an edge of weight {}", *wrong));
}

void check_source(std::string_view algorithm, int source, int nodes) {
  RENAR_CHECK(source >= 0 && source < nodes, "[{}] the source {} is not one of {} nodes", algorithm,
              source, nodes);
}

void check_undirected(std::string_view algorithm, const Matrix& a) {
  for (int u = 0; u < a.rows(); ++u) {
    for (int v = 0; v < u; ++v) {
      RENAR_CHECK(a(u, v) == a(v, u),
                  "[{}] A({}, {}) = {} but A({}, {}) = {}: give an undirected graph", algorithm, u,
                  v, a(u, v), v, u, a(v, u));
    }
  }
}

AdjacencyLists::AdjacencyLists(const Matrix& a) : ends_(a.values().size()) {
  int count = 0;
  for (int u = 0; u < a.rows(); ++u) {
    starts_.push_back(count);
    for (int v = 0; v < a.columns(); ++v) {
      ends_[count] = v;  // written over unless it counts: no branch that could be foreseen wrongly
      count += a(u, v) != 0 ? 1 : 0;
    }
  }
  starts_.push_back(count);
}

MinQueue::MinQueue(int nodes) : waits_(nodes), keys_(nodes, kInfinity) {}

int MinQueue::extract_min() {
  int least = -1;
  double smallest = kInfinity;
  for (int v = 0; v < static_cast<int>(keys_.size()); ++v) {
    if (keys_[v] < smallest) smallest = keys_[v], least = v;
  }
  if (least >= 0) waits_[least] = 0, keys_[least] = kInfinity;
  return least;
}

}  // namespace renar
