#include "algos/registry.h"

#include "algos/graphs/graphs.h"
#include "core/check.h"
#include "core/text.h"

namespace renar {
namespace {

/// The edge probabilities of training, 0.1, 0.2, .., 0.9, rounded as the reference computes them.
SamplerParams sparse_to_dense() {
  SamplerParams params{.p = {}};
  for (int i = 0; i < 9; ++i) params.p.push_back(0.1 + 0.1 * i);
  return params;
}

const SamplerParams kHalf{.p = {0.5}};

}  // namespace

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> table = {
      {"bfs", Category::kGraphs, bfs_spec, sample_bfs, kHalf, sparse_to_dense()},
      {"dfs", Category::kGraphs, dfs_spec, sample_dfs, kHalf, sparse_to_dense()},
  };
  return table;
}

const Algorithm& find_algorithm(std::string_view name) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return algorithm;
    names.push_back(algorithm.name);
  }
  throw UsageError(message_of("unknown algorithm '{}'; the nearest match is '{}', all of them: {}",
                              name, nearest_match(name, names), join(names)));
}

std::string_view name_of(Category category) {
  switch (category) {
    case Category::kSorting: return "sorting";
    case Category::kSearching: return "searching";
    case Category::kDivideAndConquer: return "divide_and_conquer";
    case Category::kGreedy: return "greedy";
    case Category::kDynamicProgramming: return "dynamic_programming";
    case Category::kGraphs: return "graphs";
    case Category::kStrings: return "strings";
    case Category::kGeometry: return "geometry";
  }
  return "";
}

}  // namespace renar
