// The paper's table out of runs: rows are algorithms, grouped by category, columns what else was
// varied, cells the mean over seeds of the test score in percent, ± the sample standard deviation.
//
// A category's mean is that of its algorithms' means, ± the mean of their deviations, and the
// overall mean is over algorithms, not categories: so are the averages of the field's papers made.
#pragma once

#include <string>
#include <vector>

#include "trainer/train.h"

namespace renar {

/// One planned run.
struct TableRun {
  std::vector<std::string> algorithms;
  std::string column;
  std::vector<int> test_lengths;
  const RunResult* result = nullptr;  ///< nullptr: not finished
};

/// A table for each test length. A cell with fewer runs than planned says how many it has: "(2/3)".
/// The first column is what constant predictions score; the others stand in the order of the runs,
/// as many side by side as fit.
std::string paper_table(const std::vector<TableRun>& runs);

}  // namespace renar
