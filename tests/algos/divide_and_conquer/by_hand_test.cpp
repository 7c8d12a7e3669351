// Maximum subarrays: the textbook's example, small arrays frame by frame, and what is no array.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"

namespace renar {
Trace find_maximum_subarray(const std::vector<double>& key);  // algos/divide_and_conquer/<name>.cpp
Trace find_maximum_subarray_kadane(const std::vector<double>& key);
}  // namespace renar

namespace renar::divide_and_conquer_by_hand_test {
namespace {

using Values = std::vector<double>;

TEST_CASE("find_maximum_subarray: the textbook's price changes") {
  const Values key = {13, -3, -25, 20, -3, -16, -23, 18, 20, -7, 12, -5, -22, 15, -4, 7};
  for (const Trace& trace : {find_maximum_subarray(key), find_maximum_subarray_kadane(key)}) {
    CHECK(trace["start"] == std::vector<double>(one_hot(7, 16)));
    CHECK(trace["end"] == std::vector<double>(one_hot(10, 16)));
  }
  CHECK(find_maximum_subarray_kadane(key)["best_sum"].back() == 43);
}

TEST_CASE("find_maximum_subarray_kadane: three elements, frame by frame") {
  const Trace trace = find_maximum_subarray_kadane({1, -2, 3});
  CHECK(trace["best_low"] == Values{1, 0, 0, /**/ 1, 0, 0, /**/ 0, 0, 1});
  CHECK(trace["best_high"] == Values{1, 0, 0, /**/ 1, 0, 0, /**/ 0, 0, 1});
  CHECK(trace["best_sum"] == Values{1, 1, 3});
  CHECK(trace["i"] == Values{1, 0, 0, /**/ 1, 0, 0, /**/ 0, 0, 1});
  CHECK(trace["j"] == Values{1, 0, 0, /**/ 0, 1, 0, /**/ 0, 0, 1});
  CHECK(trace["sum"] == Values{1, -1, 3});
}

// The frames: divide, the call of the left element, after it, the call of the right one, after it;
// before the scan to the left and its step, before the scan to the right and its step.
TEST_CASE("find_maximum_subarray: two elements, frame by frame") {
  const Trace trace = find_maximum_subarray({2, 1});
  CHECK(trace.frames() == 9);
  CHECK(trace["low"] == Values{1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0});
  CHECK(trace["high"] == Values{0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  CHECK(trace["left_sum"] == Values{0, 0, 2, 0, 2, 2, 2, 2, 2});
  CHECK(trace["right_sum"] == Values{0, 0, 0, 0, 1, 1, 1, 1 - 0.1, 1});
  CHECK(trace["cross_sum"] ==
        Values{3 - 0.2, 0, 3 - 0.2, 0, 3 - 0.2, 3 - 0.2, 3 - 0.1, 2 + 0.9, 3});
  CHECK(trace["ret_sum"] == Values{0, 2, 0, 1, 0, 0, 0, 0, 0});
  CHECK(trace["sum"] == Values{0, 0, 0, 0, 0, 0, 2, 0, 1});
  CHECK(trace["left_x_sum"] == Values{1.9, 1.9, 1.9, 0.9, 1.9, 1.9, 2, 2, 2});
  CHECK(trace["right_x_sum"] == Values{0.9, 1.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 1});
  CHECK(trace["phase"] == Values{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0,  //
                                 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1});
  CHECK(trace["start"] == Values{1, 0});
  CHECK(trace["end"] == Values{0, 1});
}

TEST_CASE("find_maximum_subarray: of equally good parts the left comes first") {
  const auto ends = [](const Trace& trace) {
    Values both = trace["start"];
    const Values end = trace["end"];
    both.insert(both.end(), end.begin(), end.end());
    return both;
  };
  CHECK(ends(find_maximum_subarray({0, 0})) == Values{1, 0, 1, 0});
  CHECK(ends(find_maximum_subarray({-1, -1, -1})) == Values{1, 0, 0, 1, 0, 0});
  CHECK(ends(find_maximum_subarray({-1, 0, 2})) == Values{0, 0, 1, 0, 0, 1});
  CHECK(ends(find_maximum_subarray_kadane({0, 0})) == Values{1, 0, 1, 0});
  CHECK(ends(find_maximum_subarray_kadane({-1, 0, 2})) == Values{0, 1, 0, 0, 0, 1});
}

TEST_CASE("find_maximum_subarray: one element, huge ones, and arrays that are none") {
  for (const auto run : {find_maximum_subarray, find_maximum_subarray_kadane}) {
    CHECK(run({-3})["start"] == Values{1});
    CHECK(run({-3}).frames() == 1);
    CHECK(run({1e20, 1e20})["start"] == Values{1, 0});  // where 0.1 less is the same number
    CHECK(run({1e20, 1e20})["end"] == Values{0, 1});
    CHECK_THROWS_AS(run({}), Error);
    CHECK_THROWS_AS(run({1, NAN}), Error);
    CHECK_THROWS_AS(run({INFINITY, 1}), Error);
    CHECK_THROWS_AS(run({1e308, 1e308}), Error);  // the sum is infinite
  }
  CHECK_THROWS_WITH_AS(find_maximum_subarray({1, NAN}),
                       "[probe] scalar 'key': element 1 is nan, which the type does not allow (2 "
                       "nodes)",
                       Error);
}

TEST_CASE("divide and conquer: the smallest samples come to an end") {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.category != Category::kDivideAndConquer) continue;
    CAPTURE(algorithm.name);
    NumpyRandom random(3);
    CHECK_THROWS_AS(algorithm.sample(random, 0, {}), Error);
    CHECK_THROWS_AS(algorithm.sample(random, -1, {}), Error);
    for (int length = 1; length <= 4; ++length) {
      CHECK(algorithm.sample(random, length, {}).complete());
    }
    UserInput input;
    input.set("key", Values{-1, 4});
    CHECK(algorithm.run(input)["start"] == Values{0, 1});
  }
}

}  // namespace
}  // namespace renar::divide_and_conquer_by_hand_test
