// What the algorithms on points of the plane share.
#pragma once

#include <string_view>

#include "algos/samplers.h"

namespace renar {

/// Throws renar::Error unless there is a point, every x has its y, and every number is 0 or of a
/// size from 1e-130 to 1e150, so that no cross product can overflow or vanish.
void check_points(std::string_view algorithm, const Points& points);

/// DIRECTION of CLRS, 3rd edition 33.1: the cross product (p_k - p_i) x (p_j - p_i). Negative if
/// the way from p_i over p_j to p_k turns left, positive if it turns right, 0 on one line. Rounded
/// as the benchmark's: near 0 the sign may be wrong, but it is right for whole numbers up to 2^25.
double direction(const Points& points, int i, int j, int k);

/// The same with a sign that is always right. A hull that is built from wrong signs may miss a
/// corner altogether (Kettner et al., Classroom Examples of Robustness Problems in Geometric
/// Computations, 2008).
double exact_direction(const Points& points, int i, int j, int k);

/// ON-SEGMENT of CLRS: whether p_k, a point on the line through p_i and p_j, is between them or one
/// of them. Elsewhere: whether it is in their box.
bool on_segment(const Points& points, int i, int j, int k);

/// Whether two points are one and the same place.
bool same_place(const Points& points, int i, int j);

/// The lowest point, the leftmost of the lowest; of equal points the first.
int lowest_point(const Points& points);

}  // namespace renar
