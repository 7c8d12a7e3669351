// The geometry algorithms on points worked out by hand, on unusual ones, and on ones they refuse.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"

namespace renar {
Trace segments_intersect(const Points& points);  // algos/geometry/<name>.cpp
Trace graham_scan(const Points& points);
Trace jarvis_march(const Points& points);
}  // namespace renar

namespace renar::geometry_by_hand_test {
namespace {

using Values = std::vector<double>;

double intersect(const Values& x, const Values& y) {
  return segments_intersect({x, y})["intersect"][0];
}

}  // namespace

// (0,0) - (2,2) and (0,2) - (2,0): the diagonals of a square, so all four ends are in both boxes.
TEST_CASE("segments_intersect: two diagonals, frame by frame") {
  const Trace trace = segments_intersect({{0, 2, 0, 2}, {0, 2, 2, 0}});
  CHECK(trace["pos"] == Values{0, 0.25, 0.5, 0.75});
  CHECK(trace["i"] == Values(one_hot_rows({0, 2, 2, 0, 0}, 4)));
  CHECK(trace["j"] == Values(one_hot_rows({0, 3, 3, 1, 1}, 4)));
  CHECK(trace["k"] == Values(one_hot_rows({0, 0, 1, 2, 3}, 4)));
  CHECK(trace["dir"] == Values{0, 0, 0,      0,  /**/ 4, 0, 0,      0,  /**/ 4, -4,
                               0, 0, /**/ 4, -4, -4,     0, /**/ 4, -4, -4,     4});
  CHECK(trace["on_seg"] ==
        Values{0, 0, 0, 0, /**/ 1, 0, 0, 0, /**/ 1, 1, 0, 0, /**/ 1, 1, 1, 0, /**/ 1, 1, 1, 1});
  CHECK(trace["intersect"] == Values{1});
}

TEST_CASE("segments_intersect: touching, collinear and degenerate segments share a point") {
  CHECK(intersect({0, 2, 1, 1}, {0, 0, 0, 3}) == 1);  // an end within the other
  CHECK(intersect({0, 2, 2, 5}, {0, 0, 0, 1}) == 1);  // an end at an end
  CHECK(intersect({0, 2, 1, 1}, {0, 0, 1, 3}) == 0);  // above it
  CHECK(intersect({0, 2, 1, 3}, {0, 2, 1, 3}) == 1);  // overlap on one line
  CHECK(intersect({0, 1, 2, 3}, {0, 1, 2, 3}) == 0);  // apart on one line
  CHECK(intersect({0, 3, 1, 2}, {0, 0, 0, 0}) == 1);  // one inside the other
  CHECK(intersect({0, 2, 0, 2}, {0, 0, 1, 1}) == 0);  // parallel
  CHECK(intersect({1, 1, 0, 2}, {1, 1, 0, 2}) == 1);  // a point on a segment
  CHECK(intersect({1, 1, 0, 2}, {1, 1, 1, 2}) == 0);  // a point beside one, in its box
  CHECK(intersect({1, 1, 1, 1}, {1, 1, 1, 1}) == 1);  // twice the same point
  CHECK(intersect({1, 1, 2, 2}, {1, 1, 1, 1}) == 0);  // two points
  CHECK(intersect({-0.0, 0, 0, 0}, {0, 0, -0.0, 0}) == 1);
}

// A square with a point inside near the top: it goes onto the stack and off again.
TEST_CASE("graham_scan: a square and a point inside, frame by frame") {
  const Trace trace = graham_scan({{0, 2, 2, 0, 1}, {0, 0, 2, 2, 1.5}});
  CHECK(trace["phase"] == Values(one_hot_rows({0, 1, 2, 4, 4, 4, 3, 4}, 5)));
  CHECK(trace["best"] == Values(one_hot_rows({0, 0, 0, 0, 0, 0, 0, 0}, 5)));
  CHECK(trace["i"] == Values(one_hot_rows({0, 0, 0, 1, 2, 4, 3, 3}, 5)));
  CHECK(trace["last_stack"] == Values(one_hot_rows({0, 0, 0, 1, 2, 4, 2, 3}, 5)));
  CHECK(trace["stack_prev"] == Values{0, 1, 2, 3, 4, /**/ 0, 1, 2, 3, 4, /**/ 0, 1, 2, 3, 4, /**/
                                      0, 0, 2, 3, 4, /**/ 0, 0, 1, 3, 4, /**/ 0, 0, 1, 3, 2, /**/
                                      0, 0, 1, 3, 4, /**/ 0, 0, 1, 2, 4});
  CHECK(trace["in_hull_h"] == Values{0, 0, 0, 0, 0, /**/ 1, 0, 0, 0, 0, /**/ 1, 0, 0, 0, 0, /**/
                                     1, 1, 0, 0, 0, /**/ 1, 1, 1, 0, 0, /**/ 1, 1, 1, 0, 1, /**/
                                     1, 1, 1, 0, 0, /**/ 1, 1, 1, 1, 0});
  const Values all = trace["atans"];
  const Values angles(all.end() - 5, all.end());
  CHECK(Values(all.begin(), all.begin() + 10) == Values(10));
  CHECK(angles == Values{0, 0, std::numbers::pi / 4, std::numbers::pi / 2, std::atan2(1.5, 1)});
  CHECK(trace["in_hull"] == Values{1, 1, 1, 1, 0});
}

// A triangle (0,0) (4,0) (1,3) round (1,1), which is node 0 and so the first endpoint of each turn.
TEST_CASE("jarvis_march: a triangle and a point inside, frame by frame") {
  const Trace trace = jarvis_march({{1, 0, 4, 1}, {1, 0, 0, 3}});
  CHECK(trace.frames() == 16);
  CHECK(trace["pred_h"].size() == 16 * 4);
  CHECK(trace["phase"] ==
        Values(one_hot_rows({0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 2)));
  CHECK(trace["best"] == Values(one_hot_rows({0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 4)));
  CHECK(trace["i"] == Values(one_hot_rows({0, 0, 0, 1, 2, 3, 0, 0, 1, 2, 3, 0, 0, 1, 2, 3}, 4)));
  CHECK(trace["last_point"] ==
        Values(one_hot_rows({0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3}, 4)));
  CHECK(trace["endpoint"] ==
        Values(one_hot_rows({0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3, 0, 0, 1, 1, 1}, 4)));
  CHECK(trace["in_hull"] == Values{0, 1, 1, 1});
}

TEST_CASE("hulls: few, collinear and repeated points have a right and finite answer") {
  for (const auto& hull : {graham_scan, jarvis_march}) {
    CHECK(hull({{3}, {5}})["in_hull"] == Values{1});
    CHECK(hull({{3, 1}, {5, 5}})["in_hull"] == Values{1, 1});
    CHECK(hull({{3, 3}, {5, 5}})["in_hull"] == Values{1, 0});
    CHECK(hull({{0, 1, 0}, {0, 0, 1}})["in_hull"] == Values{1, 1, 1});
    CHECK(hull({{0, 1, 2}, {0, 1, 2}})["in_hull"] == Values{1, 0, 1});
    CHECK(hull({{1, 0, 3, 2}, {1, 0, 3, 2}})["in_hull"] == Values{0, 1, 1, 0});
    CHECK(hull({{2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}})["in_hull"] == Values{1, 0, 0, 0, 0});
    // A unit square with repeated corners and the middles of its edges.
    CHECK(hull({{0.5, 1, 1, 0, 0, 1, 0, 0.5, 0}, {0, 0, 0, 0, 1, 1, 1, 1, 0.5}})["in_hull"] ==
          Values{0, 1, 0, 1, 1, 1, 0, 0, 0});
    CHECK(hull({{0, -0.0, 0, -0.0}, {0, 0, -0.0, -0.0}})["in_hull"] == Values{1, 0, 0, 0});
  }
}

TEST_CASE("geometry: input that is no set of points is refused") {
  CHECK_THROWS_WITH_AS(graham_scan({{1, 2}, {1}}),
                       "[graham_scan] 2 x and 1 y, give as many of one as of the other and at "
                       "least one point",
                       Error);
  CHECK_THROWS_AS(jarvis_march({{}, {}}), Error);
  for (const double wrong : {static_cast<double>(NAN), HUGE_VAL, 1e200, -1e200, 1e-200}) {
    CHECK_THROWS_AS(graham_scan({{0, wrong}, {0, 0}}), Error);
    CHECK_THROWS_AS(jarvis_march({{0, 0}, {0, wrong}}), Error);
    CHECK_THROWS_AS(segments_intersect({{0, 1, 2, wrong}, {0, 0, 1, 1}}), Error);
  }
  CHECK_THROWS_WITH_AS(segments_intersect({{0, 1, 2}, {0, 1, 2}}),
                       "[segments_intersect] 3 points, expected the 4 ends of two segments", Error);

  UserInput input;
  input.set("x", Values{0, 1, 0});
  CHECK_THROWS_AS(find_algorithm("jarvis_march").run(input), UsageError);
  input.set("y", Values{0, 0, 1});
  CHECK(find_algorithm("jarvis_march").run(input)["in_hull"] == Values{1, 1, 1});
  CHECK(find_algorithm("graham_scan").run(input)["in_hull"] == Values{1, 1, 1});
  CHECK_THROWS_AS(find_algorithm("segments_intersect").run(input), Error);
}

TEST_CASE("geometry: samples of one, two and three points, and of none") {
  NumpyRandom random(4);
  for (const char* name : {"graham_scan", "jarvis_march"}) {
    for (int length = 1; length <= 3; ++length) {
      const Trace trace = find_algorithm(name).sample(random, length, {});
      CHECK(trace["in_hull"] == Values(length, 1));
    }
    CHECK_THROWS_AS(find_algorithm(name).sample(random, 0, {}), Error);
  }
  for (const int length : {1, 4, 64}) {
    CHECK(find_algorithm("segments_intersect").sample(random, length, {}).nodes() == 4);
  }
}

}  // namespace renar::geometry_by_hand_test
