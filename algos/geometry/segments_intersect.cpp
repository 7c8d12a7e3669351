// Whether two segments intersect (CLRS, 3rd edition 33.1; the 4th edition leaves geometry out).
//
// The four nodes are the ends: p_0 p_1 is one segment, p_2 p_3 the other. Output: intersect, 1 if
// they have a point in common, touching ends and overlaps on one line included; a segment may be a
// single point. Hints: for end k, dir, the DIRECTION of (p_i, p_j, p_k), i and j being the ends of
// the other segment, and on_seg, whether p_k is in the box around p_i and p_j. A frame is recorded
// at the start and for each end.
//
// Where the benchmark leaves the textbook: on_seg is found for every end, not only where dir is 0;
// there are four nodes whatever length is asked for; and the sampler tosses a coin, then draws
// until the segments intersect or do not, as it fell. The cross products are rounded, so an end
// that touches the other segment may be missed, but for whole numbers up to 2^25.

#include <vector>

#include "algos/geometry/geometry.h"
#include "algos/registry.h"
#include "core/check.h"

namespace renar {
namespace {

const Spec& segments_intersect_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"x", Stage::kInput, Location::kNode, Type::kScalar},
      {"y", Stage::kInput, Location::kNode, Type::kScalar},
      {"intersect", Stage::kOutput, Location::kGraph, Type::kMask},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"j", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"k", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"dir", Stage::kHint, Location::kNode, Type::kScalar},
      {"on_seg", Stage::kHint, Location::kNode, Type::kMask},
  };
  return spec;
}

constexpr int kEnds = 4;

bool opposite(double a, double b) { return (a > 0 && b < 0) || (a < 0 && b > 0); }

}  // namespace

/// Tests the segments from point 0 to 1 and from point 2 to 3. Throws renar::Error unless there are
/// four points of a sound size (check_points).
Trace segments_intersect(const Points& points) {
  check_points("segments_intersect", points);
  RENAR_CHECK(points.size() == kEnds,
              "[segments_intersect] {} points, expected the 4 ends of two segments", points.size());
  Trace trace(segments_intersect_spec(), kEnds);
  trace.input({{"pos", positions(kEnds)}, {"x", points.x}, {"y", points.y}});

  std::vector<double> dir(kEnds);
  Mask on_seg(kEnds);
  int i = 0, j = 0, k = 0;
  const auto record = [&] {
    trace.hint({{"i", one_hot(i, kEnds)},
                {"j", one_hot(j, kEnds)},
                {"k", one_hot(k, kEnds)},
                {"dir", dir},
                {"on_seg", on_seg}});
  };

  record();
  for (k = 0; k < kEnds; ++k) {
    i = k < 2 ? 2 : 0;  // the other segment
    j = i + 1;
    dir[k] = direction(points, i, j, k);
    on_seg[k] = on_segment(points, i, j, k);
    record();
  }

  bool intersect = opposite(dir[0], dir[1]) && opposite(dir[2], dir[3]);
  for (k = 0; k < kEnds; ++k) intersect = intersect || (dir[k] == 0 && on_seg[k] != 0);
  trace.output({{"intersect", intersect}});
  return trace;
}

namespace {

/// The sampler's own test, which does not care for ends that touch.
bool cross(const Points& points) {
  const auto left = [&](int i, int j, int k) { return direction(points, i, j, k) < 0; };
  return left(0, 2, 3) != left(1, 2, 3) && left(0, 1, 2) != left(0, 1, 3);
}

Trace sample_segments_intersect(NumpyRandom& random, int, const SamplerParams&) {
  const bool wanted = random.binomial(0.5) == 1;
  while (true) {
    Points points;
    points.x = random_sequence(random, kEnds);
    points.y = random_sequence(random, kEnds);
    if (cross(points) == wanted) return segments_intersect(points);
  }
}

Trace run_segments_intersect(const UserInput& input) {
  return segments_intersect({input.list("x"), input.list("y")});
}

}  // namespace

Algorithm segments_intersect_algorithm() {
  return {.name = "segments_intersect",
          .category = Category::kGeometry,
          .spec = segments_intersect_spec,
          .sample = sample_segments_intersect,
          .inputs = {"x", "y"},
          .run = run_segments_intersect,
          .multiplier = 64};
}

}  // namespace renar
