#include "algos/samplers.h"

#include <cmath>
#include <cstddef>

#include "core/check.h"

namespace renar {

SamplerParams sparse_to_dense() {
  SamplerParams params{.p = {}};
  for (int i = 0; i < 9; ++i) params.p.push_back(0.1 + 0.1 * i);
  return params;
}

double choose_edge_probability(NumpyRandom& random, const SamplerParams& params) {
  RENAR_CHECK(!params.p.empty(), "[samplers] p lists {} edge probabilities, give at least one",
              params.p.size());
  for (const double p : params.p) {
    RENAR_CHECK(p >= 0 && p <= 1, "[samplers] the edge probability {} is not in [0, 1]", p);
  }
  return random.choice(params.p);
}

Matrix random_er_graph(NumpyRandom& random, int nodes, double p, Edges edges) {
  RENAR_CHECK(nodes >= 1, "[samplers] a graph of {} nodes, give at least one", nodes);
  Matrix drawn(nodes, nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) drawn(i, j) = random.binomial(p);
  }
  if (edges == Edges::kDirected) return drawn;

  const bool acyclic = edges == Edges::kAcyclic;
  const std::vector<int> renamed = acyclic ? random.permutation(nodes) : std::vector<int>();
  Matrix graph(nodes, nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) {
      if (acyclic) {
        const int from = renamed[static_cast<std::size_t>(i)];
        const int to = renamed[static_cast<std::size_t>(j)];
        graph(i, j) = from < to ? drawn(from, to) : 0;
      } else {
        graph(i, j) = drawn(i, j) * drawn(j, i);
      }
    }
  }
  return graph;
}

Matrix random_weighted_er_graph(NumpyRandom& random, int nodes, double p, Edges edges, double low,
                                double high) {
  RENAR_CHECK(low >= 0 && low <= high,
              "[samplers] weights from {} to {}, expected 0 <= low <= high", low, high);
  Matrix graph = random_er_graph(random, nodes, p, edges);
  Matrix weights(nodes, nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) weights(i, j) = random.uniform(low, high);
  }
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) {
      graph(i, j) *= edges == Edges::kUndirected ? std::sqrt(weights(i, j) * weights(j, i) + 1e-3)
                                                 : weights(i, j);
    }
  }
  return graph;
}

}  // namespace renar
