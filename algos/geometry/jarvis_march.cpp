// Jarvis's march for the convex hull (CLRS, 3rd edition 33.3, the 4th edition leaves geometry out;
// Jarvis, 1973).
//
// Output: in_hull(N), 1 on the corners of the hull. The march starts at best, the lowest point, and
// wraps the points: from the corner last_point it goes to the endpoint that has no point on its
// right, until it comes back. Hints: i, the point that is tried as endpoint. A frame is recorded at
// the start (phase 0), when best is found, after each try, and at each new corner (phase 1).
//
// Where the benchmark leaves the textbook: one march all the way round by cross products, in place
// of a left and a right chain by polar angles.
//
// Where we leave the benchmark, which never draws three points on one line (there it takes the last
// of them): only corners count, not points within an edge, and the first of equal points stands for
// all of them, as in graham_scan. To this end turns are exact, the farther of two points on one
// line is taken, and never one equal to last_point.

#include <vector>

#include "algos/geometry/geometry.h"
#include "algos/registry.h"

namespace renar {
namespace {

enum JarvisPhase { kBegin, kMarch };
constexpr int kJarvisPhases = 2;

const Spec& jarvis_march_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"x", Stage::kInput, Location::kNode, Type::kScalar},
      {"y", Stage::kInput, Location::kNode, Type::kScalar},
      {"in_hull", Stage::kOutput, Location::kNode, Type::kMask},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"in_hull_h", Stage::kHint, Location::kNode, Type::kMask},
      {"best", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"last_point", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"endpoint", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"phase", Stage::kHint, Location::kGraph, Type::kCategorical, kJarvisPhases},
  };
  return spec;
}

/// Whether endpoint is on the left of the way from last_point to i, or within it.
bool better_endpoint(const Points& points, int last_point, int endpoint, int i) {
  if (same_place(points, i, last_point) || same_place(points, i, endpoint)) return false;
  if (endpoint == last_point) return true;
  const double turn = exact_direction(points, last_point, endpoint, i);
  return turn > 0 || (turn == 0 && on_segment(points, last_point, i, endpoint));
}

}  // namespace

/// Finds the hull of the points. Throws renar::Error if there is none or a number is too large or
/// too small (check_points).
Trace jarvis_march(const Points& points) {
  check_points("jarvis_march", points);
  const int n = points.size();
  Trace trace(jarvis_march_spec(), n);
  trace.input({{"pos", positions(n)}, {"x", points.x}, {"y", points.y}});

  const std::vector<int> pred = predecessors(self_pointers(n));
  Mask in_hull(n);
  int best = 0, last_point = 0, endpoint = 0, i = 0;
  const auto record = [&](JarvisPhase phase) {
    trace.hint({{"pred_h", pred},
                {"in_hull_h", in_hull},
                {"best", one_hot(best, n)},
                {"last_point", one_hot(last_point, n)},
                {"endpoint", one_hot(endpoint, n)},
                {"i", one_hot(i, n)},
                {"phase", one_hot(phase, kJarvisPhases)}});
  };

  record(kBegin);
  best = last_point = lowest_point(points);
  in_hull[best] = 1;
  record(kMarch);

  while (true) {
    for (i = 0; i < n; ++i) {
      if (better_endpoint(points, last_point, endpoint, i)) endpoint = i;
      record(kMarch);
    }
    if (in_hull[endpoint] != 0) break;  // all the way round
    last_point = endpoint;
    in_hull[last_point] = 1;
    endpoint = i = 0;
    record(kMarch);
  }

  trace.output({{"in_hull", in_hull}});
  return trace;
}

namespace {

Trace sample_jarvis_march(NumpyRandom& random, int length, const SamplerParams&) {
  return jarvis_march(random_points_in_disk(random, length));
}

Trace run_jarvis_march(const UserInput& input) {
  return jarvis_march({input.list("x"), input.list("y")});
}

}  // namespace

Algorithm jarvis_march_algorithm() {
  return {.name = "jarvis_march",
          .category = Category::kGeometry,
          .spec = jarvis_march_spec,
          .sample = sample_jarvis_march,
          .inputs = {"x", "y"},
          .run = run_jarvis_march,
          .pred_is_input = true};
}

}  // namespace renar
