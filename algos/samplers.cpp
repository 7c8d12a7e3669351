#include "algos/samplers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numbers>

#include "algos/user_input.h"
#include "core/check.h"

namespace renar {
namespace {

/// Whether three of the points span a parallelogram of an area below 1e-12.
bool any_collinear(const Points& points) {
  const std::vector<double>&x = points.x, &y = points.y;
  for (int i = 0; i < points.size(); ++i) {
    for (int j = i + 1; j < points.size(); ++j) {
      const double dx = x[j] - x[i], dy = y[j] - y[i];
      for (int k = j + 1; k < points.size(); ++k) {
        if (std::abs(dx * (y[k] - y[i]) - dy * (x[k] - x[i])) < 1e-12) return true;
      }
    }
  }
  return false;
}

}  // namespace

SamplerParams sparse_to_dense() {
  SamplerParams params{.p = {}};
  for (int i = 0; i < 9; ++i) params.p.push_back(0.1 + 0.1 * i);
  return params;
}

SamplerParams sparse_to_half() {
  SamplerParams params = sparse_to_dense();
  for (double& p : params.p) p /= 2;
  return params;
}

std::vector<double> random_sequence(NumpyRandom& random, int count, double low, double high) {
  RENAR_CHECK(count >= 1, "[samplers] a sequence of {} numbers, give at least one", count);
  return random.uniform(low, high, static_cast<std::size_t>(count));
}

std::vector<int> random_string(NumpyRandom& random, int count, int letters) {
  RENAR_CHECK(count >= 1 && letters >= 1,
              "[samplers] a string of {} letters from an alphabet of {}, give at least one of each",
              count, letters);
  std::vector<int> text(static_cast<std::size_t>(count));
  for (int& letter : text) letter = static_cast<int>(random.randint(0, letters));
  return text;
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
  random.binomial(p, drawn.values());
  if (edges == Edges::kDirected) return drawn;

  Matrix graph(nodes, nodes);
  if (edges == Edges::kUndirected) {
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j <= i; ++j) graph(i, j) = graph(j, i) = drawn(i, j) * drawn(j, i);
    }
    return graph;
  }
  const std::vector<int> renamed = random.permutation(nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) {
      const int from = renamed[i], to = renamed[j];
      graph(i, j) = from < to ? drawn(from, to) : 0;
    }
  }
  return graph;
}

Matrix random_weighted_er_graph(NumpyRandom& random, int nodes, double p, Edges edges) {
  Matrix graph = random_er_graph(random, nodes, p, edges);
  Matrix weights(nodes, nodes);
  random.uniform(0, 1, weights.values());
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) {
      if (edges != Edges::kUndirected) {
        graph(i, j) *= weights(i, j);
      } else if (j <= i) {
        graph(i, j) *= std::sqrt(weights(i, j) * weights(j, i) + 1e-3);
        graph(j, i) = graph(i, j);
      }
    }
  }
  return graph;
}

Matrix random_community_graph(NumpyRandom& random, int nodes, int communities, double p,
                              double toggle) {
  RENAR_CHECK(communities >= 1 && nodes >= communities,
              "[samplers] a graph of {} communities takes at least {} nodes, not {}", communities,
              communities, nodes);
  Matrix graph(nodes, nodes);
  std::vector<int> block_of(static_cast<std::size_t>(nodes));
  for (int block = 0; block < communities; ++block) {
    const int low = block * (nodes / communities);
    const int high = block == communities - 1 ? nodes : low + nodes / communities;
    const Matrix inside = random_er_graph(random, high - low, p, Edges::kDirected);
    for (int i = low; i < high; ++i) {
      block_of[i] = block;
      for (int j = low; j < high; ++j) graph(i, j) = inside(i - low, j - low);
    }
  }

  const Matrix toggled = random_er_graph(random, nodes, toggle, Edges::kDirected);
  const std::vector<int> renamed = random.permutation(nodes);
  Matrix result(nodes, nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) {
      const int u = renamed[i], v = renamed[j];
      const bool flip = toggled(u, v) != 0 && block_of[u] <= block_of[v];
      result(i, j) = flip ? 1 - graph(u, v) : graph(u, v);
    }
  }
  return result;
}

Matrix random_bipartite_graph(NumpyRandom& random, int left, int right, double p) {
  RENAR_CHECK(left >= 1 && right >= 0,
              "[samplers] a bipartite graph of {} left and {} right nodes, give at least one", left,
              right);
  Matrix graph(left, right);
  random.binomial(p, graph.values());
  return graph;
}

Strings random_needle_in_haystack(NumpyRandom& random, int length, const SamplerParams& params) {
  const std::int64_t asked = params.length_needle;
  const std::int64_t longest = asked != 0 ? std::abs(asked) : std::max(1, length / 5);
  RENAR_CHECK(length > 2 * longest,
              "[samplers] {} letters are too few for a needle of up to {} in a longer haystack, "
              "ask for at least {}",
              length, longest, 2 * longest + 1);
  const int m = static_cast<int>(asked < 0 ? random.randint(1, 1 + longest) : longest);
  const int n = length - m, letters = static_cast<int>(kLetters.size());

  Strings strings;
  strings.needle = random_string(random, m, letters);
  strings.haystack = random_string(random, n, letters);
  const int place = random.choice(n - m);
  std::copy(strings.needle.begin(), strings.needle.end(), strings.haystack.begin() + place);
  return strings;
}

Points random_points_in_disk(NumpyRandom& random, int count) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::vector<double> angles = random_sequence(random, count, 0, 2 * std::numbers::pi);
    const std::vector<double> areas = random_sequence(random, count);  // inside, of the disk's
    Points points;
    for (int i = 0; i < count; ++i) {
      const double radius = 2 * std::sqrt(areas[i]);
      points.x.push_back(radius * std::cos(angles[i]));
      points.y.push_back(radius * std::sin(angles[i]));
    }
    if (!any_collinear(points)) return points;
  }
  throw Error(message_of("[samplers] of {} random points three lay on one line 1000 times", count));
}

}  // namespace renar
