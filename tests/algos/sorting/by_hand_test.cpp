// The sorts frame by frame on three keys, on all arrays of up to five, and on ones they must
// refuse.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"
#include "tests/algos/small_arrays.h"

namespace renar {
Trace insertion_sort(const std::vector<double>& keys);  // algos/sorting/<name>.cpp
Trace bubble_sort(const std::vector<double>& keys);
Trace heapsort(const std::vector<double>& keys);
Trace quicksort(const std::vector<double>& keys);
}  // namespace renar

namespace renar::sorting_by_hand_test {
namespace {

using Values = std::vector<double>;

struct Sort {
  std::string name;
  Trace (*run)(const Values& keys);
  int frames_of_one;  // key
};
const std::vector<Sort> kSorts = {{"insertion_sort", insertion_sort, 1},
                                  {"bubble_sort", bubble_sort, 1},
                                  {"heapsort", heapsort, 2},
                                  {"quicksort", quicksort, 1}};

/// One-hot rows over three nodes, one a frame.
Values rows(const std::vector<int>& marks) { return one_hot_rows(marks, 3); }

/// The keys from the last node of a chain of predecessors to its first, in that order; shorter than
/// the array if the chain runs into itself.
Values keys_along(const Values& pred, const Values& keys) {
  std::vector<int> pointed_at(pred.size());
  for (std::size_t i = 0; i < pred.size(); ++i) {
    if (pred[i] != static_cast<double>(i)) ++pointed_at[static_cast<std::size_t>(pred[i])];
  }
  std::size_t node = static_cast<std::size_t>(std::find(pointed_at.begin(), pointed_at.end(), 0) -
                                              pointed_at.begin());
  Values along;
  std::vector<bool> seen(pred.size());
  while (node < pred.size() && !seen[node]) {
    seen[node] = true;
    along.push_back(keys[node]);
    node = static_cast<std::size_t>(pred[node]);
  }
  return along;
}

}  // namespace

TEST_CASE("bubble_sort: 3 1 2 by hand") {
  const Trace trace = bubble_sort({3, 1, 2});  // 2 stays behind 1; 1 passes 3; 2 passes 3
  CHECK(trace["pred_h"] == Values{0, 0, 1, /**/ 0, 0, 1, /**/ 1, 1, 0, /**/ 2, 1, 1});
  CHECK(trace["i"] == rows({0, 0, 1, 2}));
  CHECK(trace["j"] == rows({0, 2, 0, 0}));
  CHECK(trace["pred"] == Values{2, 1, 1});
}

TEST_CASE("heapsort: 1 3 2 by hand") {
  const Trace trace = heapsort({1, 3, 2});
  // The start; MAX-HEAPIFY at places 2, 1, 0, where 3 rises, and below it; then twice: the largest
  // moves behind the heap, and MAX-HEAPIFY at the root finds nothing to do.
  CHECK(trace["phase"] == rows({0, 0, 0, 0, 0, 1, 2, 1, 2}));
  CHECK(trace["pred_h"] == Values{0,      0, 1, /**/ 0, 0, 1, /**/ 0, 0, 1, /**/ 1, 1, 0,
                                  /**/ 1, 1, 0, /**/ 2, 0, 2, /**/ 2, 0, 2, /**/ 0, 2, 0,
                                  /**/ 0, 2, 0});
  CHECK(trace["parent"] == Values{0,      0, 0, /**/ 0, 0, 0, /**/ 0, 0, 0, /**/ 1, 1, 1,
                                  /**/ 1, 1, 1, /**/ 2, 1, 2, /**/ 2, 1, 2, /**/ 0, 1, 2,
                                  /**/ 0, 1, 2});
  CHECK(trace["i"] == rows({2, 2, 1, 1, 1, 2, 1, 0, 2}));
  CHECK(trace["j"] == rows({2, 2, 1, 1, 0, 1, 2, 2, 0}));
  CHECK(trace["largest"] == rows({2, 2, 1, 0, 0, 0, 2, 0, 0}));  // node 0 at every move behind
  CHECK(trace["heap_size"] == rows({2, 2, 2, 2, 2, 0, 0, 0, 0}));
  CHECK(trace["pred"] == Values{0, 2, 0});
}

TEST_CASE("quicksort: 2 3 1 by hand") {
  const Trace trace = quicksort({2, 3, 1});  // the pivot 1 changes places with 2; then 2 with 3
  CHECK(trace["pred_h"] == Values{0, 0, 1, /**/ 0, 0, 1, /**/ 1, 2, 2, /**/ 1, 2, 2, /**/ 2, 0, 2});
  CHECK(trace["p"] == rows({0, 0, 2, 1, 0}));
  CHECK(trace["r"] == rows({2, 2, 0, 0, 1}));
  CHECK(trace["i"] == rows({0, 0, 2, 1, 0}));
  CHECK(trace["j"] == rows({0, 1, 0, 1, 1}));
  CHECK(trace["pred"] == Values{2, 0, 2});
}

TEST_CASE("sorting: equal keys stay in place, but for heapsort, which turns them round") {
  for (const Sort& sort : kSorts) {
    CAPTURE(sort.name);
    const bool turned = sort.name == "heapsort";
    CHECK(sort.run({4, 4})["pred"] == (turned ? Values{1, 1} : Values{0, 0}));
  }
}

TEST_CASE("sorting: every array of up to five keys comes out sorted, in a complete trace") {
  for (const Values& keys : small_arrays(5)) {
    Values expected = keys;
    std::sort(expected.rbegin(), expected.rend());
    for (const Sort& sort : kSorts) {
      CAPTURE(sort.name);
      const Trace trace = sort.run(keys);
      REQUIRE(trace.complete());
      REQUIRE(keys_along(trace["pred"], keys) == expected);
      if (keys.size() == 1) REQUIRE(trace.frames() == sort.frames_of_one);
    }
  }
}

TEST_CASE("sorting: no key at all, and keys that are no numbers, are refused by name") {
  for (const Sort& sort : kSorts) {
    const std::string place = "[" + sort.name + "] ";
    CHECK_THROWS_WITH_AS(sort.run({}), (place + "0 keys, expected at least one").c_str(), Error);
    CHECK_THROWS_WITH_AS(sort.run({1, NAN}),
                         (place + "key 1 is nan, expected a finite number").c_str(), Error);
    CHECK_THROWS_WITH_AS(sort.run({-INFINITY, 1}),
                         (place + "key 0 is -inf, expected a finite number").c_str(), Error);
  }
}

}  // namespace renar::sorting_by_hand_test
