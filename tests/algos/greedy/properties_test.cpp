// The greedy choices on thousands of random inputs full of ties: activity_selector's are optimal,
// task_scheduling's follow the benchmark's rule.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "algos/registry.h"
#include "tests/algos/awkward.h"

namespace renar {
Trace activity_selector(const std::vector<double>& s,
                        const std::vector<double>& f);  // algos/greedy
Trace task_scheduling(const std::vector<double>& d, const std::vector<double>& w);
}  // namespace renar

namespace renar::greedy_properties_test {
namespace {

using Values = std::vector<double>;

/// The most activities that do not overlap: the longest chain in which each starts when the one
/// before it is over. `chain` (N) holds the longest that starts with an activity, 0 if not known.
int longest_chain(const Values& s, const Values& f, std::size_t first, std::vector<int>& chain) {
  if (chain[first] > 0) return chain[first];
  int rest = 0;
  for (std::size_t next = 0; next < s.size(); ++next) {
    if (s[next] >= f[first]) rest = std::max(rest, longest_chain(s, f, next, chain));
  }
  return chain[first] = rest + 1;
}

TEST_CASE("activity_selector: what is selected does not overlap, and no more is possible") {
  NumpyRandom random(1);
  for (int sample = 0; sample < 4000; ++sample) {
    const int n = 1 + sample % 20;
    const Values s = awkward_numbers(random, n, 0, 6), duration = awkward_numbers(random, n, 1, 3);
    Values f = s;
    for (int i = 0; i < n; ++i) f[i] += duration[i];
    const Trace trace = activity_selector(s, f);
    REQUIRE(trace.frames() == n + 1);
    const Values selected = trace["selected"];
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        if (selected[i] == 1 && selected[j] == 1) REQUIRE((s[i] >= f[j] || s[j] >= f[i]));
      }
    }
    int most = 0;
    std::vector<int> chain(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) most = std::max(most, longest_chain(s, f, i, chain));
    REQUIRE(std::count(selected.begin(), selected.end(), 1.0) == most);
  }
}

/// The benchmark's rule, said plainly: the task of the largest penalty that was not looked at yet,
/// the first of equals, is accepted if fewer than its deadline were.
Values accepted_by_rule(const Values& d, const Values& w) {
  Values accepted(d.size(), 0);
  std::vector<bool> seen(d.size());
  int count = 0;
  for (std::size_t round = 0; round < d.size(); ++round) {
    std::size_t largest = d.size();
    for (std::size_t i = d.size(); i-- > 0;) {
      if (!seen[i] && (largest == d.size() || w[i] >= w[largest])) largest = i;
    }
    seen[largest] = true;
    if (count >= d[largest]) continue;
    accepted[largest] = 1;
    ++count;
  }
  return accepted;
}

TEST_CASE("task_scheduling: the benchmark's rule, whose tasks can all be done in time") {
  NumpyRandom random(2);
  for (int sample = 0; sample < 4000; ++sample) {
    const int n = 1 + sample % 20;
    Values d, w = awkward_numbers(random, n, 0, 4);
    for (int i = 0; i < n; ++i) d.push_back(static_cast<double>(random.randint(1, n + 3)));
    const Trace trace = task_scheduling(d, w);
    REQUIRE(trace.frames() == n + 1);
    const Values selected = trace["selected"], t = trace["t"];
    REQUIRE(selected == accepted_by_rule(d, w));
    REQUIRE(t.back() == std::count(selected.begin(), selected.end(), 1.0));
    for (int time = 0; time <= n; ++time) {  // no more tasks are due by then than fit
      int due = 0;
      for (int i = 0; i < n; ++i) due += selected[i] == 1 && d[i] <= time ? 1 : 0;
      REQUIRE(due <= time);
    }
  }
}

}  // namespace
}  // namespace renar::greedy_properties_test
