#include "algos/graphs/graphs.h"

#include <cmath>

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

}  // namespace renar
