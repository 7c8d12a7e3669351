// Scheduling unit-time tasks with deadlines (CLRS, 3rd edition 16.5, not in the 4th; Lawler, 1985).
//
// Input: d(N), the deadlines, whole numbers from 1, and w(N), the penalty of each task that is
// late. Output: selected(N), the tasks that are accepted as early. Hints: selected_h, so far; i,
// the task that is looked at; t, how many are accepted. A frame is recorded before the first task,
// with i at 0, and after each: N + 1 frames.
//
// Where the benchmark leaves the textbook: the tasks come in the order of falling penalty (of equal
// ones the lowest index first; the benchmark's own sort leaves that open, and its data has no equal
// ones), but a task is accepted while fewer tasks than its deadline were accepted, not whenever the
// accepted ones could still be reordered to be all in time. So d = [2, 1], w = [10, 9] accepts the
// first alone, where both could be done; what is accepted can always be done in time, but its
// penalty is not always the largest.

#include <algorithm>
#include <cmath>
#include <vector>

#include "algos/greedy/greedy.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& task_scheduling_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"d", Stage::kInput, Location::kNode, Type::kScalar},
      {"w", Stage::kInput, Location::kNode, Type::kScalar},
      {"selected", Stage::kOutput, Location::kNode, Type::kMask},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"selected_h", Stage::kHint, Location::kNode, Type::kMask},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"t", Stage::kHint, Location::kGraph, Type::kScalar},
  };
  return spec;
}

}  // namespace

/// Accepts tasks of deadline d[i] and penalty w[i]. Throws renar::Error unless the deadlines are
/// whole numbers of at least 1 and the penalties finite and not negative.
Trace task_scheduling(const std::vector<double>& d, const std::vector<double>& w) {
  RENAR_CHECK(d.size() == w.size(), "[task_scheduling] {} deadlines and {} penalties, give as many",
              d.size(), w.size());
  const int n = static_cast<int>(d.size());
  for (int i = 0; i < n; ++i) {
    RENAR_CHECK(d[i] >= 1 && d[i] == std::floor(d[i]),
                "[task_scheduling] the deadline d[{}] is {}, expected a whole number of at least 1",
                i, d[i]);
    RENAR_CHECK(w[i] >= 0, "[task_scheduling] the penalty w[{}] is {}, expected at least 0", i,
                w[i]);
  }
  Trace trace(task_scheduling_spec(), n);
  trace.input({{"pos", positions(n)}, {"d", d}, {"w", w}});

  const std::vector<int> pred = predecessors(self_pointers(n));
  Mask selected(n);
  int t = 0;
  const auto record = [&](int i) {
    trace.hint({{"pred_h", pred}, {"selected_h", selected}, {"i", one_hot(i, n)}, {"t", t}});
  };

  record(0);
  std::vector<double> key = w;
  for (double& x : key) x = -x;  // falling penalty
  for (const int i : ascending(key)) {
    if (t < d[i]) {
      selected[i] = 1;
      ++t;
    }
    record(i);
  }

  trace.output({{"selected", selected}});
  return trace;
}

namespace {

Trace sample_task_scheduling(NumpyRandom& random, int length, const SamplerParams&) {
  std::vector<double> d;
  for (const int letter : random_string(random, length, length)) d.push_back(letter + 1);
  return task_scheduling(d, random_sequence(random, length));
}

Trace run_task_scheduling(const UserInput& input) {
  return task_scheduling(input.list("d"), input.list("w"));
}

}  // namespace

Algorithm task_scheduling_algorithm() {
  return {.name = "task_scheduling",
          .category = Category::kGreedy,
          .spec = task_scheduling_spec,
          .sample = sample_task_scheduling,
          .inputs = {"d", "w"},
          .run = run_task_scheduling,
          .pred_is_input = true};
}

}  // namespace renar
