// Graham's scan for the convex hull (CLRS, 3rd edition 33.3, the 4th edition leaves geometry out;
// Graham, 1972).
//
// Output: in_hull(N), 1 on the corners of the hull. The points are visited by their polar angle
// around best, the lowest point; those that are corners so far form a stack: stack_prev points from
// a corner to the one below it, last_stack is the top. Hints: atans, the angles, and i, the point
// at hand. A frame is recorded at the start (phase 0), when best is found (1), when the angles are
// (2), at each pop (3) and at each push (4).
//
// Where the benchmark leaves the textbook: points off the stack point to themselves in stack_prev,
// and so does best.
//
// Where we leave the benchmark, which never draws three points on one line (its scan may run for
// ever on them): only corners count, not points within an edge, and the first of equal points
// stands for all of them, as in jarvis_march. To this end turns are exact, the nearer of two points
// at one angle comes first, points equal to best are passed over, and best is never popped.

#include <algorithm>
#include <cmath>
#include <vector>

#include "algos/geometry/geometry.h"
#include "algos/registry.h"

namespace renar {
namespace {

enum GrahamPhase { kStart, kBestFound, kAnglesFound, kPop, kPush };
constexpr int kGrahamPhases = 5;

const Spec& graham_scan_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"x", Stage::kInput, Location::kNode, Type::kScalar},
      {"y", Stage::kInput, Location::kNode, Type::kScalar},
      {"in_hull", Stage::kOutput, Location::kNode, Type::kMask},
      {"best", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"atans", Stage::kHint, Location::kNode, Type::kScalar},
      {"in_hull_h", Stage::kHint, Location::kNode, Type::kMask},
      {"stack_prev", Stage::kHint, Location::kNode, Type::kPointer},
      {"last_stack", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"phase", Stage::kHint, Location::kGraph, Type::kCategorical, kGrahamPhases},
  };
  return spec;
}

/// Whether p has the smaller polar angle around best, or is the nearer of two at one angle. Of
/// equal points the last comes before the others, so that the first will pop them.
bool comes_before(const Points& points, int best, int p, int q) {
  if (same_place(points, p, q)) return p > q;
  const double turn = exact_direction(points, best, p, q);
  return turn < 0 || (turn == 0 && on_segment(points, best, q, p));
}

}  // namespace

/// Finds the hull of the points. Throws renar::Error if there is none or a number is too large or
/// too small (check_points).
Trace graham_scan(const Points& points) {
  check_points("graham_scan", points);
  const int n = points.size();
  Trace trace(graham_scan_spec(), n);
  trace.input({{"pos", positions(n)}, {"x", points.x}, {"y", points.y}});

  std::vector<double> atans(n);
  Mask in_hull(n);
  std::vector<int> stack_prev = self_pointers(n);
  int best = 0, last_stack = 0, i = 0;
  const auto record = [&](GrahamPhase phase) {
    trace.hint({{"best", one_hot(best, n)},
                {"atans", atans},
                {"in_hull_h", in_hull},
                {"stack_prev", stack_prev},
                {"last_stack", one_hot(last_stack, n)},
                {"i", one_hot(i, n)},
                {"phase", one_hot(phase, kGrahamPhases)}});
  };

  record(kStart);
  best = last_stack = i = lowest_point(points);
  in_hull[best] = 1;
  record(kBestFound);

  std::vector<int> others;
  for (int p = 0; p < n; ++p) {
    if (same_place(points, p, best)) continue;
    atans[p] = std::atan2(points.y[p] - points.y[best], points.x[p] - points.x[best]);
    others.push_back(p);
  }
  std::sort(others.begin(), others.end(),
            [&](int p, int q) { return comes_before(points, best, p, q); });
  record(kAnglesFound);

  for (const int next : others) {
    i = next;
    while (last_stack != best &&
           exact_direction(points, stack_prev[last_stack], last_stack, i) >= 0) {
      const int popped = last_stack;  // the way to i makes no left turn there
      last_stack = stack_prev[popped];
      stack_prev[popped] = popped;
      in_hull[popped] = 0;
      record(kPop);
    }
    stack_prev[i] = last_stack;
    last_stack = i;
    in_hull[i] = 1;
    record(kPush);
  }

  trace.output({{"in_hull", in_hull}});
  return trace;
}

namespace {

Trace sample_graham_scan(NumpyRandom& random, int length, const SamplerParams&) {
  return graham_scan(random_points_in_disk(random, length));
}

Trace run_graham_scan(const UserInput& input) {
  return graham_scan({input.list("x"), input.list("y")});
}

}  // namespace

Algorithm graham_scan_algorithm() {
  return {.name = "graham_scan",
          .category = Category::kGeometry,
          .spec = graham_scan_spec,
          .sample = sample_graham_scan,
          .inputs = {"x", "y"},
          .run = run_graham_scan};
}

}  // namespace renar
