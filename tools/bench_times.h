// What the subcommands of renar_bench share: a clock, and the smallest and middle one of many
// times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace renar {

/// Seconds on the steady clock.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Times {
  double min = 0, median = 0;
};

/// Throws nothing; the times are in any unit, at least one of them.
inline Times times_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

/// Milliseconds of `work`: one call to warm up, then `count` that are timed.
template <class Work>
Times time_of(int count, const Work& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const double start = now();
    work();
    times.push_back((now() - start) * 1e3);
  }
  return times_of(std::move(times));
}

}  // namespace renar
