#include "algos/graphs/graphs.h"

#include <cmath>
#include <limits>

#include "core/check.h"

namespace renar {

void check_graph(const Matrix& a) {
  RENAR_CHECK(a.rows() == a.columns() && a.rows() >= 1,
              "[graphs] a graph is a square matrix of at least one node, not {} x {}", a.rows(),
              a.columns());
  for (const double weight : a.values()) {
    RENAR_CHECK(std::isfinite(weight), "[graphs] an edge of weight {}", weight);
  }
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

int extract_min(const std::vector<double>& key, Mask& in_queue) {
  int least = -1;
  double smallest = std::numeric_limits<double>::infinity();  // above all keys
  for (int v = 0; v < static_cast<int>(key.size()); ++v) {
    const double waiting = in_queue[v] != 0 ? key[v] : std::numeric_limits<double>::infinity();
    if (waiting < smallest) smallest = waiting, least = v;
  }
  if (least >= 0) in_queue[least] = 0;
  return least;
}

}  // namespace renar
