#include "algos/registry.h"

#include "core/check.h"
#include "core/text.h"

// One line an algorithm, by name: algos/<category>/<name>.cpp defines <name>_algorithm().
// clang-format off
#define RENAR_ALGORITHMS(line) \
  line(activity_selector) \
  line(articulation_points) \
  line(bellman_ford) \
  line(bfs) \
  line(binary_search) \
  line(bipartite_matching) \
  line(bridges) \
  line(bubble_sort) \
  line(dag_shortest_paths) \
  line(dfs) \
  line(dijkstra) \
  line(find_maximum_subarray) \
  line(find_maximum_subarray_kadane) \
  line(floyd_warshall) \
  line(graham_scan) \
  line(heapsort) \
  line(insertion_sort) \
  line(jarvis_march) \
  line(kmp_matcher) \
  line(lcs_length) \
  line(matrix_chain_order) \
  line(minimum) \
  line(mst_kruskal) \
  line(mst_prim) \
  line(naive_string_matcher) \
  line(optimal_bst) \
  line(quickselect) \
  line(quicksort) \
  line(segments_intersect) \
  line(strongly_connected_components) \
  line(task_scheduling) \
  line(topological_sort)
// clang-format on

namespace renar {

#define RENAR_DECLARE(name) Algorithm name##_algorithm();
RENAR_ALGORITHMS(RENAR_DECLARE)
#undef RENAR_DECLARE

const std::vector<Algorithm>& algorithms() {
#define RENAR_ENTRY(name) name##_algorithm(),
  static const std::vector<Algorithm> table = {RENAR_ALGORITHMS(RENAR_ENTRY)};
#undef RENAR_ENTRY
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
