// The greedy algorithms on the textbook's examples, frame by frame, and on what they must refuse.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"

namespace renar {
Trace activity_selector(const std::vector<double>& s,
                        const std::vector<double>& f);  // algos/greedy
Trace task_scheduling(const std::vector<double>& d, const std::vector<double>& w);
}  // namespace renar

namespace renar::greedy_by_hand_test {
namespace {

using Values = std::vector<double>;

TEST_CASE("activity_selector: the textbook's eleven activities") {
  const Values s = {1, 3, 0, 5, 3, 5, 6, 8, 8, 2, 12};
  const Values f = {4, 5, 6, 7, 9, 9, 10, 11, 12, 14, 16};
  CHECK(activity_selector(s, f)["selected"] == Values{1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1});
}

// By finish: 2 (0 to 1), 0 (0 to 3), 1 (1 to 4): the second overlaps the first.
TEST_CASE("activity_selector: three activities, frame by frame") {
  const Trace trace = activity_selector({0, 1, 0}, {3, 4, 1});
  CHECK(trace["selected_h"] == Values{0, 0, 0, /**/ 0, 0, 1, /**/ 0, 0, 1, /**/ 0, 1, 1});
  CHECK(trace["m"] == Values{1, 0, 0, /**/ 0, 0, 1, /**/ 1, 0, 0, /**/ 0, 1, 0});
  CHECK(trace["k"] == Values{1, 0, 0, /**/ 0, 0, 1, /**/ 0, 0, 1, /**/ 0, 1, 0});
  CHECK(trace["selected"] == Values{0, 1, 1});
  CHECK(activity_selector({-2, -1}, {1, 1})["selected"] == Values{1, 0});  // a tie
}

TEST_CASE("activity_selector: activities that are none") {
  CHECK_THROWS_WITH_AS(activity_selector({0, 2}, {1, 1}),
                       "[activity_selector] activity 1 starts at 2 and finishes at 1, expected a "
                       "start before the finish",
                       Error);
  CHECK_THROWS_AS(activity_selector({1}, {1}), Error);
  CHECK_THROWS_WITH_AS(activity_selector({0, 1}, {2}),
                       "[activity_selector] 2 starts and 1 finishes, give as many", Error);
  CHECK_THROWS_AS(activity_selector({}, {}), Error);
  CHECK_THROWS_AS(activity_selector({NAN}, {1}), Error);
  CHECK_THROWS_AS(activity_selector({0}, {NAN}), Error);
  CHECK_THROWS_AS(activity_selector({0}, {INFINITY}), Error);
  CHECK_THROWS_AS(activity_selector({-INFINITY}, {0}), Error);
}

// The textbook accepts the first four and the last; here three are accepted when the fourth, with
// deadline 3, comes up.
TEST_CASE("task_scheduling: the textbook's seven tasks, by the benchmark's rule") {
  const Trace trace = task_scheduling({4, 2, 4, 3, 1, 4, 6}, {70, 60, 50, 40, 30, 20, 10});
  CHECK(trace["selected"] == Values{1, 1, 1, 0, 0, 1, 1});
  CHECK(trace["t"] == Values{0, 1, 2, 3, 3, 3, 4, 5});
}

TEST_CASE("task_scheduling: the smallest input on which the benchmark is not optimal") {
  const Trace trace = task_scheduling({2, 1}, {10, 9});
  CHECK(trace["selected_h"] == Values{0, 0, /**/ 1, 0, /**/ 1, 0});
  CHECK(trace["i"] == Values{1, 0, /**/ 1, 0, /**/ 0, 1});
  CHECK(trace["t"] == Values{0, 1, 1});
  CHECK(trace["selected"] == Values{1, 0});
}

TEST_CASE("task_scheduling: tasks that are none") {
  CHECK(task_scheduling({9}, {0})["selected"] == Values{1});
  CHECK_THROWS_WITH_AS(task_scheduling({1, 0}, {1, 1}),
                       "[task_scheduling] the deadline d[1] is 0, expected a whole number of at "
                       "least 1",
                       Error);
  for (const double wrong : {-1.0, 1.5, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    CHECK_THROWS_AS(task_scheduling({wrong}, {1}), Error);
  }
  CHECK_THROWS_WITH_AS(task_scheduling({1}, {-2}),
                       "[task_scheduling] the penalty w[0] is -2, expected at least 0", Error);
  for (const double wrong : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    CHECK_THROWS_AS(task_scheduling({1}, {wrong}), Error);
  }
  CHECK_THROWS_WITH_AS(task_scheduling({1}, {2, 3}),
                       "[task_scheduling] 1 deadlines and 2 penalties, give as many", Error);
  CHECK_THROWS_AS(task_scheduling({}, {}), Error);
}

TEST_CASE("greedy: the smallest samples come to an end, and the user's input is taken") {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.category != Category::kGreedy) continue;
    CAPTURE(algorithm.name);
    NumpyRandom random(3);
    CHECK_THROWS_AS(algorithm.sample(random, 0, {}), Error);
    CHECK_THROWS_AS(algorithm.sample(random, -1, {}), Error);
    for (int length = 1; length <= 4; ++length) {
      CHECK(algorithm.sample(random, length, {}).frames() == length + 1);
    }
    UserInput input;
    for (const char* name : {"s", "d"}) input.set(name, Values{1, 2});
    for (const char* name : {"f", "w"}) input.set(name, Values{3, 3});
    CHECK(algorithm.run(input)["selected"][0] == 1);
  }
}

}  // namespace
}  // namespace renar::greedy_by_hand_test
