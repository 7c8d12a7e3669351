// Minimum, binary search and quickselect: right on thousands of random arrays, by hand on small
// ones, and what they refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"
#include "tests/algos/awkward.h"

namespace renar::searching_properties_test {
namespace {

using Values = std::vector<double>;

Trace search(const std::string& name, const Values& keys) {
  UserInput input;
  input.set("key", keys);
  return find_algorithm(name).run(input);
}

Trace binary_search_for(double target, const Values& keys) {
  UserInput input;
  input.set("key", keys);
  input.set("target", target);
  return find_algorithm("binary_search").run(input);
}

int marked(const Values& one_hot) {
  return static_cast<int>(std::find(one_hot.begin(), one_hot.end(), 1.0) - one_hot.begin());
}

}  // namespace

TEST_CASE("minimum: the first of the smallest keys, one frame a key") {
  NumpyRandom random(1);
  for (int sample = 0; sample < 3000; ++sample) {
    const Values keys = awkward_numbers(random, 1 + random.choice(40), -4, 4);
    const Trace trace = search("minimum", keys);
    CHECK(marked(trace["min"]) == std::min_element(keys.begin(), keys.end()) - keys.begin());
    CHECK(trace.frames() == static_cast<int>(keys.size()));
  }
}

TEST_CASE("minimum: 2 3 1 by hand") {
  const Trace trace = search("minimum", {2, 3, 1});
  CHECK(trace["pred_h"] == Values{0, 0, 1, /**/ 0, 0, 1, /**/ 0, 0, 1});
  CHECK(trace["min_h"] == Values{1, 0, 0, /**/ 1, 0, 0, /**/ 0, 0, 1});
  CHECK(trace["i"] == Values{1, 0, 0, /**/ 0, 1, 0, /**/ 0, 0, 1});
}

TEST_CASE("binary_search: the first key that is not below the target, else the last node") {
  NumpyRandom random(2);
  int above_all = 0, found = 0;
  for (int sample = 0; sample < 4000; ++sample) {
    Values keys = awkward_numbers(random, 1 + random.choice(40), -4, 4);
    std::sort(keys.begin(), keys.end());
    double target = random.uniform(-5, 5);
    if (sample % 3 == 0) target = keys[static_cast<std::size_t>(random.choice(keys.size()))];
    const Trace trace = binary_search_for(target, keys);
    const auto first = std::lower_bound(keys.begin(), keys.end(), target);
    above_all += first == keys.end();
    found += first != keys.end() && *first == target;
    const auto expected = first == keys.end() ? keys.end() - 1 : first;
    CHECK(marked(trace["return"]) == expected - keys.begin());
    CHECK(trace.frames() <= 1 + std::ceil(std::log2(static_cast<double>(keys.size()))));
  }
  CHECK(above_all > 100);
  CHECK(found > 1000);
}

TEST_CASE("binary_search: 7 among 1 3 5 7 by hand") {
  const Trace trace = binary_search_for(7, {1, 3, 5, 7});
  CHECK(trace["target"] == Values{7});
  CHECK(trace["low"] == Values(one_hot_rows({0, 2, 3}, 4)));
  CHECK(trace["high"] == Values(one_hot_rows({3, 3, 3}, 4)));
  CHECK(trace["mid"] == Values(one_hot_rows({1, 2, 3}, 4)));
  CHECK(marked(trace["return"]) == 3);
}

TEST_CASE("quickselect: the key of rank N / 2") {
  NumpyRandom random(3);
  for (int sample = 0; sample < 3000; ++sample) {
    const Values keys = awkward_numbers(random, 1 + random.choice(40), -4, 4);
    Values sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    const Trace trace = search("quickselect", keys);
    CHECK(keys[static_cast<std::size_t>(marked(trace["median"]))] == sorted[keys.size() / 2]);
    const Values& target = trace["target"];
    CHECK(target[0] == static_cast<double>(keys.size() / 2) / static_cast<double>(keys.size()));
  }
}

TEST_CASE("quickselect: 3 1 2 by hand") {
  const Trace trace = search("quickselect", {3, 1, 2});  // the pivot 2 is the median at once
  CHECK(trace["pred_h"] == Values{0, 0, 1, /**/ 1, 1, 0, /**/ 2, 1, 1});
  CHECK(trace["i"] == Values(one_hot_rows({0, 0, 2}, 3)));
  CHECK(trace["j"] == Values(one_hot_rows({0, 0, 0}, 3)));
  CHECK(trace["pivot"] == Values(one_hot_rows({2, 2, 2}, 3)));
  CHECK(trace["i_rank"] == Values{0, 1.0 / 3, 1.0 / 3});
  CHECK(marked(trace["median"]) == 2);
}

TEST_CASE("searching: one key is its own answer; bad keys and unsorted ones are refused") {
  for (const std::string name : {"minimum", "quickselect"}) {
    CHECK(search(name, {-5}).frames() == 1);
    CHECK_THROWS_AS(search(name, {}), Error);
    CHECK_THROWS_AS(search(name, {0, NAN}), Error);
    CHECK_THROWS_AS(search(name, {-INFINITY}), Error);
  }
  CHECK(marked(binary_search_for(9, {-5})["return"]) == 0);
  CHECK_THROWS_AS(binary_search_for(1, {}), Error);
  CHECK_THROWS_AS(binary_search_for(NAN, {1}), Error);
  CHECK_THROWS_WITH_AS(binary_search_for(1, {1, 3, 2}),
                       "[binary_search] key 2 is below the one before it: sort them", Error);
  NumpyRandom random(1);
  for (const char* name : {"minimum", "binary_search", "quickselect"}) {
    CHECK_THROWS_AS(find_algorithm(name).sample(random, 0, {}), Error);
  }
}

}  // namespace renar::searching_properties_test
