// Both algorithms find a subarray of the largest sum: on thousands of random arrays full of ties,
// against all subarrays.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "algos/registry.h"
#include "tests/algos/awkward.h"

namespace renar {
Trace find_maximum_subarray(const std::vector<double>& key);  // algos/divide_and_conquer/<name>.cpp
Trace find_maximum_subarray_kadane(const std::vector<double>& key);
}  // namespace renar

namespace renar::divide_and_conquer_properties_test {
namespace {

using Values = std::vector<double>;

double largest_sum(const Values& key) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < key.size(); ++i) {
    double sum = 0;
    for (std::size_t j = i; j < key.size(); ++j) {
      sum += key[j];
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

std::size_t marked(const Values& mask) {
  return static_cast<std::size_t>(std::find(mask.begin(), mask.end(), 1.0) - mask.begin());
}

/// The sum of the subarray that the outputs mark.
double found_sum(const Values& key, const Trace& trace) {
  const std::size_t start = marked(trace["start"]), end = marked(trace["end"]);
  REQUIRE(start <= end);
  REQUIRE(end < key.size());
  double sum = 0;
  for (std::size_t i = start; i <= end; ++i) sum += key[i];
  return sum;
}

/// The frames of a call over this many elements: one of one element; else one before dividing and
/// one after each recursive call, one before each scan and one at each of its steps, one at the
/// end.
int frames_of(int elements) {
  if (elements == 1) return 1;
  return 6 + elements + frames_of((elements + 1) / 2) + frames_of(elements / 2);
}

TEST_CASE("find_maximum_subarray: both algorithms find the largest sum") {
  NumpyRandom random(1);
  for (int sample = 0; sample < 4000; ++sample) {
    const int n = 1 + sample % 20;
    const Values key = awkward_numbers(random, n, -3, 3);
    const double largest = largest_sum(key);

    const Trace divided = find_maximum_subarray(key);
    REQUIRE(found_sum(key, divided) == doctest::Approx(largest).epsilon(1e-13));
    REQUIRE(divided.frames() == std::max(1, frames_of(n) - 1));

    const Trace kadane = find_maximum_subarray_kadane(key);
    REQUIRE(found_sum(key, kadane) == doctest::Approx(largest).epsilon(1e-13));
    REQUIRE(kadane.frames() == n);
    REQUIRE(kadane["best_sum"].back() == doctest::Approx(largest).epsilon(1e-13));
  }
}

TEST_CASE("find_maximum_subarray_kadane: every frame shows the best of what was seen") {
  NumpyRandom random(2);
  for (int sample = 0; sample < 500; ++sample) {
    const Values key = awkward_numbers(random, 1 + sample % 20, -3, 3);
    const Values best_sum = find_maximum_subarray_kadane(key)["best_sum"];
    for (std::size_t j = 0; j < key.size(); ++j) {
      const double largest =
          largest_sum(Values(key.begin(), key.begin() + 1 + static_cast<int>(j)));
      REQUIRE(best_sum[j] == doctest::Approx(largest).epsilon(1e-13));
    }
  }
}

}  // namespace
}  // namespace renar::divide_and_conquer_properties_test
