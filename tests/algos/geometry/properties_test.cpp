// The geometry algorithms on thousands of random points, most of them awkward: grids full of ties
// and repeats, lines, and points in general position.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "algos/registry.h"

namespace renar {
Trace segments_intersect(const Points& points);  // algos/geometry/<name>.cpp
Trace graham_scan(const Points& points);
Trace jarvis_march(const Points& points);
}  // namespace renar

namespace renar::geometry_properties_test {
namespace {

using Values = std::vector<double>;

/// Whole numbers of -range .. range as coordinates.
Points grid_points(NumpyRandom& random, int count, std::int64_t range) {
  Points points;
  for (int i = 0; i < count; ++i) {
    points.x.push_back(static_cast<double>(random.randint(-range, range + 1)));
    points.y.push_back(static_cast<double>(random.randint(-range, range + 1)));
  }
  return points;
}

/// Twice the area of the triangle i j k, positive if it runs counter-clockwise. Exact, for whole
/// numbers up to 2^53.
__int128 area(const Points& points, int i, int j, int k) {
  const auto side = [](double to, double from) {
    return static_cast<__int128>(to) - static_cast<__int128>(from);
  };
  return side(points.x[j], points.x[i]) * side(points.y[k], points.y[i]) -
         side(points.y[j], points.y[i]) * side(points.x[k], points.x[i]);
}

/// The corners of the hull, counter-clockwise, by Andrew's monotone chain (another algorithm, as
/// the oracle); of equal points the first.
std::vector<int> monotone_chain(const Points& points) {
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](int i) { return std::pair(points.x[i], points.y[i]); };
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return place(i) < place(j); });
  const auto same = [&](int i, int j) { return place(i) == place(j); };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  if (order.size() == 1) return order;

  std::vector<int> hull;
  for (int pass = 0; pass < 2; ++pass) {  // the lower chain, then the upper one backwards
    const std::size_t start = hull.size();
    for (const int k : order) {
      while (hull.size() >= start + 2 && area(points, hull.end()[-2], hull.back(), k) <= 0) {
        hull.pop_back();
      }
      hull.push_back(k);
    }
    hull.pop_back();
    std::reverse(order.begin(), order.end());
  }
  return hull;
}

Values marks(const std::vector<int>& nodes, int count) {
  Values marks(count);
  for (const int node : nodes) marks[node] = 1;
  return marks;
}

void check_hulls(const Points& points) {
  const Values expected = marks(monotone_chain(points), points.size());
  REQUIRE(graham_scan(points)["in_hull"] == expected);
  REQUIRE(jarvis_march(points)["in_hull"] == expected);
}

/// Whether two segments share a point, by the separating axis theorem (another way, as the
/// oracle): if they do not, they are apart along one of these axes.
bool share_a_point(const Points& p) {
  const double ax = p.x[1] - p.x[0], ay = p.y[1] - p.y[0];
  const double bx = p.x[3] - p.x[2], by = p.y[3] - p.y[2];
  const double axes[][2] = {{ax, ay}, {-ay, ax}, {bx, by}, {-by, bx}, {1, 0}, {0, 1}};
  for (const auto& [u, v] : axes) {
    const auto along = [&, u = u, v = v](int i) { return u * p.x[i] + v * p.y[i]; };
    const auto [low_a, high_a] = std::minmax({along(0), along(1)});
    const auto [low_b, high_b] = std::minmax({along(2), along(3)});
    if (high_a < low_b || high_b < low_a) return false;
  }
  return true;
}

double intersect(const Points& points) { return segments_intersect(points)["intersect"][0]; }

}  // namespace

TEST_CASE("hulls: both agree with a third algorithm on grids full of ties and repeats") {
  NumpyRandom random(21);
  for (int sample = 0; sample < 3000; ++sample) {
    check_hulls(grid_points(random, 1 + random.choice(14), random.choice(4)));
  }
  for (int sample = 0; sample < 30; ++sample) check_hulls(grid_points(random, 100, 6));
  for (int sample = 0; sample < 500; ++sample) check_hulls(grid_points(random, 20, 1 << 30));
}

TEST_CASE("hulls: both agree with it on points that lie on one or two lines") {
  NumpyRandom random(22);
  for (int sample = 0; sample < 1500; ++sample) {
    const Points ends = grid_points(random, 4, 1000);
    const int lines = 1 + random.choice(2);
    Points points;
    for (int i = 0; i < 12; ++i) {
      const int line = random.choice(lines);
      const auto step = static_cast<double>(random.randint(-1000, 1001));
      points.x.push_back(ends.x[2 * line] + step * ends.x[2 * line + 1]);
      points.y.push_back(ends.y[2 * line] + step * ends.y[2 * line + 1]);
    }
    check_hulls(points);
  }
}

// A line of huge whole numbers, each off by one at most: the cross products are so near 0 that
// rounding alone would decide on their signs.
TEST_CASE("hulls: both agree with it on points that lie on a line but for a hair") {
  NumpyRandom random(23);
  for (int sample = 0; sample < 1500; ++sample) {
    const Points line = grid_points(random, 2, 1 << 30);
    Points points = grid_points(random, 12, 1);
    for (int i = 0; i < points.size(); ++i) {
      const auto step = static_cast<double>(4096 * random.randint(-1000, 1001));
      points.x[i] += line.x[0] + step * line.x[1];
      points.y[i] += line.y[0] + step * line.y[1];
    }
    check_hulls(points);
  }
}

TEST_CASE("hulls: both agree on fractions on a line but for rounding, and keep its two ends") {
  NumpyRandom random(24);
  for (int sample = 0; sample < 1000; ++sample) {
    const std::vector<double> line = random.uniform(-1, 1, 4), steps = random.uniform(0, 1, 12);
    Points points;
    for (const double step : steps) {
      points.x.push_back(line[0] + step * line[2]);
      points.y.push_back(line[1] + step * line[3]);
    }
    const Values in_hull = graham_scan(points)["in_hull"];
    REQUIRE(jarvis_march(points)["in_hull"] == in_hull);
    REQUIRE(in_hull[std::min_element(steps.begin(), steps.end()) - steps.begin()] == 1);
    REQUIRE(in_hull[std::max_element(steps.begin(), steps.end()) - steps.begin()] == 1);
  }
}

TEST_CASE("hulls: in general position both are the same convex polygon and hold all points") {
  NumpyRandom random(28);
  for (int sample = 0; sample < 400; ++sample) {
    const Points points = random_points_in_disk(random, 3 + random.choice(30));
    const Values in_hull = graham_scan(points)["in_hull"];
    REQUIRE(jarvis_march(points)["in_hull"] == in_hull);

    std::vector<int> corners;  // counter-clockwise around their centre
    double x = 0, y = 0;
    for (int i = 0; i < points.size(); ++i) {
      if (in_hull[i] == 0) continue;
      corners.push_back(i);
      x += points.x[i];
      y += points.y[i];
    }
    const double count = static_cast<double>(corners.size());
    const auto angle = [&](int i) {
      return std::atan2(points.y[i] - y / count, points.x[i] - x / count);
    };
    std::sort(corners.begin(), corners.end(), [&](int i, int j) { return angle(i) < angle(j); });
    for (std::size_t corner = 0; corner < corners.size(); ++corner) {
      const int i = corners[corner], j = corners[(corner + 1) % corners.size()];
      for (int k = 0; k < points.size(); ++k) {  // every other point is on the left of each edge
        const double turn = (points.x[j] - points.x[i]) * (points.y[k] - points.y[i]) -
                            (points.y[j] - points.y[i]) * (points.x[k] - points.x[i]);
        REQUIRE((k == i || k == j || turn > 0));
      }
    }
  }
}

TEST_CASE("hulls: points in the disk stay in it, at all angles and distances") {
  NumpyRandom random(25);
  int inside = 0;
  Values quarters(4);
  for (int sample = 0; sample < 200; ++sample) {
    const Points points = random_points_in_disk(random, 16);
    for (int i = 0; i < points.size(); ++i) {
      const double square = points.x[i] * points.x[i] + points.y[i] * points.y[i];
      REQUIRE(square <= 4 + 1e-12);
      inside += square < 2;  // half the disk's area
      quarters[(points.x[i] > 0 ? 1 : 0) + (points.y[i] > 0 ? 2 : 0)] += 1;
    }
  }
  CHECK(std::abs(inside - 1600) < 120);  // four standard deviations
  for (const double quarter : quarters) CHECK(std::abs(quarter - 800) < 100);
}

TEST_CASE("segments_intersect: equals another test on grids, where ends touch and lines overlap") {
  NumpyRandom random(26);
  int shared = 0;
  for (int sample = 0; sample < 10000; ++sample) {
    const Points p = grid_points(random, 4, random.choice(5));
    const bool expected = share_a_point(p);
    REQUIRE(intersect(p) == expected);
    REQUIRE(intersect({{p.x[3], p.x[2], p.x[0], p.x[1]}, {p.y[3], p.y[2], p.y[0], p.y[1]}}) ==
            expected);
    shared += expected;
  }
  CHECK(shared > 2000);
  CHECK(shared < 8000);
}

TEST_CASE("segments_intersect: sampled segments intersect about every other time") {
  NumpyRandom random(27);
  const Algorithm& algorithm = find_algorithm("segments_intersect");
  int shared = 0;
  for (int sample = 0; sample < 4000; ++sample) {
    const Trace trace = algorithm.sample(random, 16, algorithm.dataset);
    const bool intersects = trace["intersect"][0] == 1;
    REQUIRE(intersects == share_a_point({trace["x"], trace["y"]}));
    shared += intersects;
  }
  CHECK(std::abs(shared - 2000) < 130);  // four standard deviations
}

}  // namespace renar::geometry_properties_test
