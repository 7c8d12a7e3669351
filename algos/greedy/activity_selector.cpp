// Activity selection (CLRS, 3rd edition 16.1, 4th edition 15.1; Gavril, 1972).
//
// Input: s(N) and f(N), when each activity starts and finishes. Output: selected(N), the largest
// number of activities that do not overlap: those are taken, in the order of their finish, that
// start no earlier than the last one taken finishes. Hints: selected_h, so far; m, the activity
// that is looked at, and k, the last one taken. A frame is recorded before the first activity, with
// m and k at 0, and after each: N + 1 frames.
//
// Where the benchmark leaves the textbook: the activities do not come sorted, and the algorithm
// walks through their order by f (of equal ones the lowest index first; the benchmark's own sort
// leaves that open, and its data has no equal ones).

#include <vector>

#include "algos/greedy/greedy.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& activity_selector_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"s", Stage::kInput, Location::kNode, Type::kScalar},
      {"f", Stage::kInput, Location::kNode, Type::kScalar},
      {"selected", Stage::kOutput, Location::kNode, Type::kMask},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"selected_h", Stage::kHint, Location::kNode, Type::kMask},
      {"m", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"k", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Selects as many activities as possible of those that take the times s[i] up to f[i]. Throws
/// renar::Error unless each starts before it finishes and all times are finite.
Trace activity_selector(const std::vector<double>& s, const std::vector<double>& f) {
  RENAR_CHECK(s.size() == f.size(), "[activity_selector] {} starts and {} finishes, give as many",
              s.size(), f.size());
  const int n = static_cast<int>(s.size());
  for (int i = 0; i < n; ++i) {
    RENAR_CHECK(s[i] < f[i],
                "[activity_selector] activity {} starts at {} and finishes at {}, expected a start "
                "before the finish",
                i, s[i], f[i]);
  }
  Trace trace(activity_selector_spec(), n);
  trace.input({{"pos", positions(n)}, {"s", s}, {"f", f}});

  const std::vector<int> pred = predecessors(self_pointers(n));
  Mask selected(n);
  int k = 0;
  const auto record = [&](int m) {
    trace.hint(
        {{"pred_h", pred}, {"selected_h", selected}, {"m", one_hot(m, n)}, {"k", one_hot(k, n)}});
  };

  record(0);
  const std::vector<int> order = ascending(f);
  for (const int m : order) {
    if (m == order[0] || s[m] >= f[k]) {
      selected[m] = 1;
      k = m;
    }
    record(m);
  }

  trace.output({{"selected", selected}});
  return trace;
}

namespace {

Trace sample_activity_selector(NumpyRandom& random, int length, const SamplerParams&) {
  std::vector<double> s = random_sequence(random, length), f = random_sequence(random, length);
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] > f[i]) std::swap(s[i], f[i]);
  }
  return activity_selector(s, f);
}

Trace run_activity_selector(const UserInput& input) {
  return activity_selector(input.list("s"), input.list("f"));
}

}  // namespace

Algorithm activity_selector_algorithm() {
  return {.name = "activity_selector",
          .category = Category::kGreedy,
          .spec = activity_selector_spec,
          .sample = sample_activity_selector,
          .inputs = {"s", "f"},
          .run = run_activity_selector,
          .pred_is_input = true};
}

}  // namespace renar
