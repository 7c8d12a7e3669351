// What the subcommands of renar_bench share: the smallest and middle one of many
// times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/clock.h"

namespace renar {

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
    const double start = seconds_now();
    work();
    times.push_back((seconds_now() - start) * 1e3);
  }
  return times_of(std::move(times));
}

}  // namespace renar
