// The sorts: sorted output on thousands of random arrays, single steps by hand, what they refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"
#include "tests/algos/awkward.h"

namespace renar::sorting_properties_test {
namespace {

using Values = std::vector<double>;
const std::vector<std::string> kSorts = {"bubble_sort", "heapsort", "insertion_sort", "quicksort"};

Trace sort(const std::string& name, const Values& keys) {
  UserInput input;
  input.set("key", keys);
  return find_algorithm(name).run(input);
}

/// The nodes in the order that predecessors (N) make: from the node that points to itself on. Empty
/// if they make none of all nodes.
std::vector<int> order_of(const Values& pred) {
  const int n = static_cast<int>(pred.size());
  std::vector<int> next(pred.size(), -1), order;
  int first = -1;
  for (int i = 0; i < n; ++i) {
    const int before = static_cast<int>(pred[i]);
    if (before == i) {
      if (first >= 0) return {};
      first = i;
    } else {
      if (next[before] >= 0) return {};
      next[before] = i;
    }
  }
  for (int i = first; i >= 0; i = next[i]) order.push_back(i);
  return static_cast<int>(order.size()) == n ? order : std::vector<int>();
}

/// One frame of a hint of nodes.
Values frame(const Trace& trace, const char* hint, int t) {
  const Values& all = trace[hint];
  const int n = trace.nodes();
  return {all.begin() + t * n, all.begin() + (t + 1) * n};
}

}  // namespace

TEST_CASE("sorting: what comes out is sorted, in every frame an order, and the last hint is it") {
  NumpyRandom random(1);
  for (int sample = 0; sample < 1000; ++sample) {
    Values keys = awkward_numbers(random, 1 + random.choice(40), -3, 3);
    if (sample % 5 == 0) std::sort(keys.begin(), keys.end());
    if (sample % 5 == 1) std::sort(keys.rbegin(), keys.rend());
    const int n = static_cast<int>(keys.size());
    for (const std::string& name : kSorts) {
      CAPTURE(name);
      const Trace trace = sort(name, keys);
      const std::vector<int> order = order_of(trace["pred"]);
      REQUIRE(static_cast<int>(order.size()) == n);
      for (int i = 1; i < n; ++i) CHECK(keys[order[i - 1]] <= keys[order[i]]);
      REQUIRE(trace.frames() >= 1);
      CHECK(frame(trace, "pred_h", trace.frames() - 1) == trace["pred"]);
      const int middle = trace.frames() / 2;
      CHECK(static_cast<int>(order_of(frame(trace, "pred_h", middle)).size()) == n);
      // insertion sort and bubble sort are stable
      if (name != "insertion_sort" && name != "bubble_sort") continue;
      for (int i = 1; i < n; ++i) {
        const bool tie = keys[order[i - 1]] == keys[order[i]];
        if (tie) CHECK(order[i - 1] < order[i]);
      }
    }
  }
}

TEST_CASE("sorting: the number of frames") {
  NumpyRandom random(2);
  for (int n = 1; n <= 20; ++n) {
    const Values keys = random_sequence(random, n);
    CHECK(sort("insertion_sort", keys).frames() == n);
    CHECK(sort("bubble_sort", keys).frames() == 1 + n * (n - 1) / 2);
    Values sorted = keys;
    std::sort(sorted.begin(), sorted.end());  // the worst case: each pivot is the largest
    CHECK(sort("quicksort", sorted).frames() == std::max(1, (n - 1) * (n + 2) / 2));
  }
}

TEST_CASE("insertion_sort: 3 1 2 by hand") {
  const Trace trace = sort("insertion_sort", {3, 1, 2});
  CHECK(trace["pos"] == Values{0, 1.0 / 3, 2.0 / 3});
  CHECK(trace["pred_h"] == Values{0, 0, 1, /**/ 1, 1, 0, /**/ 2, 1, 1});
  CHECK(trace["i"] == Values{1, 0, 0, /**/ 1, 0, 0, /**/ 1, 0, 0});
  CHECK(trace["j"] == Values{1, 0, 0, /**/ 0, 1, 0, /**/ 0, 0, 1});
  CHECK(trace["pred"] == Values{2, 1, 1});
}

TEST_CASE("heapsort: the heap property holds between the parents' keys once the heap is built") {
  NumpyRandom random(3);
  for (int sample = 0; sample < 200; ++sample) {
    const Values keys = awkward_numbers(random, 1 + random.choice(20), -2, 2);
    const Trace trace = sort("heapsort", keys);
    const Values& phase = trace["phase"];
    for (int t = 1; t < trace.frames(); ++t) {
      const bool moved_behind = phase[t * 3 + 1] == 1;  // the frame before it is a whole heap
      if (!moved_behind) continue;
      const Values parent = frame(trace, "parent", t - 1);
      for (int i = 0; i < trace.nodes(); ++i) CHECK(keys[parent[i]] >= keys[i]);
    }
  }
}

TEST_CASE("quicksort: after a partition the pivot parts small keys from large ones") {
  const Trace trace = sort("quicksort", {2, 3, 1});  // the pivot 1 changes places with 2
  CHECK(trace["pred_h"] == Values{0, 0, 1, /**/ 0, 0, 1, /**/ 1, 2, 2, /**/ 1, 2, 2, /**/ 2, 0, 2});
  CHECK(sort("quicksort", {7}).frames() == 1);
  CHECK(sort("quicksort", {7})["pred"] == Values{0});
}

TEST_CASE("sorting: no keys, and keys that are no numbers, are refused") {
  for (const std::string& name : kSorts) {
    CHECK_THROWS_AS(sort(name, {}), Error);
    CHECK_THROWS_AS(sort(name, {1, NAN}), Error);
    CHECK_THROWS_AS(sort(name, {INFINITY}), Error);
    NumpyRandom random(1);
    CHECK_THROWS_AS(find_algorithm(name).sample(random, 0, {}), Error);
  }
}

}  // namespace renar::sorting_properties_test
