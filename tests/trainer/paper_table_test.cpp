// The table against means and deviations by hand.
#include "trainer/paper_table.h"

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

namespace renar::paper_table_test {
namespace {

RunResult result_of_scores(const std::vector<std::string>& algorithms,
                           const std::vector<std::vector<double>>& scores, double trivial) {
  RunResult result;
  for (std::size_t k = 0; k < algorithms.size(); ++k) {
    AlgorithmResult& found = result.algorithms.emplace_back();
    found.algo = algorithms[k];
    for (const double score : scores[k]) found.tests.push_back({score, trivial, {}, 32, 64});
  }
  return result;
}

TEST_CASE("paper_table: means, deviations, categories and what is missing, by hand") {
  std::deque<RunResult> results;
  std::vector<TableRun> runs;
  const auto run = [&](const char* algo, const char* column, double score) {
    TableRun& planned = runs.emplace_back();
    planned = {{algo}, column, {64}, nullptr};
    if (score < 0) return;  // not there yet
    results.push_back(result_of_scores({algo}, {{score}}, 0.125));
    planned.result = &results.back();
  };
  // bfs: mean (90 + 94 + 98) / 3 = 94, deviation sqrt((16 + 0 + 16) / 2) = 4
  for (const double score : {0.90, 0.94, 0.98}) run("bfs", "old lr=1", score);
  for (const double score : {0.50, -1.0, 0.60}) run("bfs", "new", score);  // 55, sqrt(50) = 7.07
  // dfs: mean 30, deviation sqrt((4 + 4 + 0) / 2) = 2
  for (const double score : {0.28, 0.32, 0.30}) run("dfs", "old lr=1", score);
  for (const double score : {-1.0, -1.0, -1.0}) run("dfs", "new", score);
  for (const double score : {1.0, 1.0, 1.0}) run("quicksort", "old lr=1", score);
  for (const double score : {0.75, -1.0, -1.0}) run("quicksort", "new", score);
  // graphs: (94 + 30) / 2 = 62, (4 + 2) / 2 = 3; all: (94 + 30 + 100) / 3 = 74.67, (4 + 2 + 0) / 3
  CHECK(paper_table(runs) ==
        "test score in percent at n = 64, mean ± standard deviation over seeds\n"
        "\n"
        "                                         old\n"
        "                     trivial            lr=1                  new\n"
        "sorting\n"
        "  quicksort            12.50   100.00 ± 0.00          75.00 (1/3)\n"
        "graphs\n"
        "  bfs                  12.50    94.00 ± 4.00   55.00 ± 7.07 (2/3)\n"
        "  dfs                  12.50    30.00 ± 2.00                    -\n"
        "mean of\n"
        "  sorting              12.50   100.00 ± 0.00          75.00 (1/3)\n"
        "  graphs               12.50    62.00 ± 3.00   55.00 ± 7.07 (2/6)\n"
        "  all 3 algorithms     12.50    74.67 ± 2.00   65.00 ± 7.07 (3/9)\n");
}

TEST_CASE("paper_table: one run needs no deviation and no means") {
  const RunResult result = result_of_scores({"kmp_matcher"}, {{0.125, 0.5}}, 0.25);
  CHECK(paper_table({{{"kmp_matcher"}, "", {64, 16}, &result}}) ==
        "test score in percent at n = 64\n"
        "\n"
        "                trivial   score\n"
        "strings\n"
        "  kmp_matcher     25.00   12.50\n"
        "\n"
        "test score in percent at n = 16\n"
        "\n"
        "                trivial   score\n"
        "strings\n"
        "  kmp_matcher     25.00   50.00\n");
}

TEST_CASE("paper_table: a run of several algorithms is in the row of each") {
  const RunResult alone = result_of_scores({"bfs"}, {{0.75}}, 0.5);
  const RunResult both = result_of_scores({"minimum", "bfs"}, {{0.25}, {1.0}}, 0.5);
  CHECK(
      paper_table({{{"bfs"}, "", {8}, &alone}, {{"minimum", "bfs"}, "minimum+bfs", {8}, &both}}) ==
      "test score in percent at n = 8\n"
      "\n"
      "                     trivial   score   minimum+bfs\n"
      "searching\n"
      "  minimum              50.00                 25.00\n"
      "graphs\n"
      "  bfs                  50.00   75.00        100.00\n"
      "mean of\n"
      "  searching            50.00                 25.00\n"
      "  graphs               50.00   75.00        100.00\n"
      "  all 2 algorithms     50.00                 62.50\n");
}

TEST_CASE("paper_table: columns that do not fit stand below, none is lost") {
  const RunResult result = result_of_scores({"bfs"}, {{0.5}}, 0.25);
  std::vector<TableRun> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back({{"bfs"}, "column-number-" + std::to_string(i), {64}, &result});
  }
  const std::string table = paper_table(runs);
  std::size_t longest = 0, count = 0;
  for (std::size_t start = 0; start < table.size();) {
    const std::size_t end = table.find('\n', start);
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  CHECK(longest <= 100);
  for (std::size_t at = table.find("50.00"); at != std::string::npos; ++count) {
    at = table.find("50.00", at + 1);
  }
  CHECK(count == 20);
  for (int i = 0; i < 20; ++i) {
    CHECK(table.find("column-number-" + std::to_string(i)) != std::string::npos);
  }
}

}  // namespace
}  // namespace renar::paper_table_test
