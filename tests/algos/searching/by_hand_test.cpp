// Minimum, binary search and quickselect on all arrays of up to five keys, a quickselect of two
// partitions frame by frame, and what the algorithms themselves refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"
#include "tests/algos/small_arrays.h"

namespace renar {
Trace minimum(const std::vector<double>& a);  // algos/searching/<name>.cpp
Trace binary_search(double target, const std::vector<double>& a);
Trace quickselect(const std::vector<double>& keys);
}  // namespace renar

namespace renar::searching_by_hand_test {
namespace {

using Values = std::vector<double>;

int marked(const Values& one_hot) {
  return static_cast<int>(std::find(one_hot.begin(), one_hot.end(), 1.0) - one_hot.begin());
}

/// One-hot rows over three nodes, one a frame.
Values rows(const std::vector<int>& marks) { return one_hot_rows(marks, 3); }

}  // namespace

TEST_CASE("quickselect: 2 3 1 and 1 2 3 by hand, where it goes on to the right and to the left") {
  const Trace right = quickselect({2, 3, 1});  // the pivot 1 is of rank 0; rank 0 of 3 2 is next
  CHECK(right["pred_h"] == Values{0, 0, 1, /**/ 0, 0, 1, /**/ 1, 2, 2, /**/ 1, 2, 2, /**/ 2, 0, 2});
  CHECK(right["p"] == rows({0, 0, 2, 1, 0}));
  CHECK(right["r"] == rows({2, 2, 0, 0, 1}));
  CHECK(right["i"] == rows({0, 0, 2, 1, 0}));
  CHECK(right["j"] == rows({0, 1, 0, 1, 1}));
  CHECK(right["pivot"] == rows({2, 2, 2, 0, 0}));
  CHECK(right["i_rank"] == Values{0, 0, 0, 1.0 / 3, 0});  // from the start, from p at the end
  CHECK(right["target"] == Values{1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 0});
  CHECK(right["median"] == rows({0}));

  const Trace left = quickselect({1, 2, 3});  // the pivot 3 is of rank 2; then the pivot 2 of 1
  CHECK(left["pred_h"] == Values{0, 0, 1, /**/ 0, 0, 1, /**/ 0, 0, 1, /**/ 0, 0, 1, /**/ 0, 0, 1});
  CHECK(left["p"] == rows({0, 0, 0, 0, 0}));
  CHECK(left["r"] == rows({2, 2, 2, 1, 1}));
  CHECK(left["i"] == rows({1, 2, 2, 1, 1}));
  CHECK(left["j"] == rows({0, 1, 2, 0, 1}));
  CHECK(left["pivot"] == rows({2, 2, 2, 1, 1}));
  CHECK(left["i_rank"] == Values{1.0 / 3, 2.0 / 3, 2.0 / 3, 1.0 / 3, 1.0 / 3});
  CHECK(left["target"] == Values{1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3});
  CHECK(left["median"] == rows({1}));
}

TEST_CASE("searching: every array of up to five keys has its minimum and its median found") {
  for (const Values& keys : small_arrays(5)) {
    Values sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    const Trace least = minimum(keys), middle = quickselect(keys);
    REQUIRE(least.complete());
    REQUIRE(middle.complete());
    REQUIRE(marked(least["min"]) == std::min_element(keys.begin(), keys.end()) - keys.begin());
    REQUIRE(keys[static_cast<std::size_t>(marked(middle["median"]))] == sorted[keys.size() / 2]);
  }
}

TEST_CASE("binary_search: in every sorted array of up to five keys, for targets on and off them") {
  for (const Values& keys : small_arrays(5)) {
    if (!std::is_sorted(keys.begin(), keys.end())) {
      REQUIRE_THROWS_AS(binary_search(0, keys), Error);
      continue;
    }
    const int last = static_cast<int>(keys.size()) - 1;
    for (double target = -1.5; target <= 4.5; target += 0.5) {
      const auto first = std::lower_bound(keys.begin(), keys.end(), target);
      const Trace trace = binary_search(target, keys);
      REQUIRE(trace.complete());
      REQUIRE(marked(trace["return"]) == std::min(static_cast<int>(first - keys.begin()), last));
    }
  }
}

TEST_CASE("searching: what is no key or no target is refused by name") {
  const auto check_refused = [](const std::string& name, Trace (*run)(const Values&)) {
    const std::string place = "[" + name + "] ";
    CHECK_THROWS_WITH_AS(run({}), (place + "0 keys, expected at least one").c_str(), Error);
    CHECK_THROWS_WITH_AS(run({1, NAN}), (place + "key 1 is nan, expected a finite number").c_str(),
                         Error);
    CHECK_THROWS_WITH_AS(run({INFINITY}),
                         (place + "key 0 is inf, expected a finite number").c_str(), Error);
  };
  check_refused("minimum", minimum);
  check_refused("quickselect", quickselect);
  check_refused("binary_search", [](const Values& keys) { return binary_search(0, keys); });
  CHECK_THROWS_WITH_AS(binary_search(NAN, {1}),
                       "[binary_search] the target is nan, expected a finite number", Error);
  CHECK_THROWS_WITH_AS(binary_search(INFINITY, {1}),
                       "[binary_search] the target is inf, expected a finite number", Error);
}

}  // namespace renar::searching_by_hand_test
