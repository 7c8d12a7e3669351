#include "algos/geometry/geometry.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/check.h"

namespace renar {
namespace {

/// A sum of doubles without rounding: the terms, from the smallest to the largest, do not overlap,
/// so the last that is not 0 has the sign of the sum (Shewchuk, Adaptive Precision Floating-Point
/// Arithmetic, 1997, GROW-EXPANSION).
class ExactSum {
 public:
  void add(double x) {
    for (double& term : terms_) {  // x + term = sum + what its rounding lost
      const double sum = x + term, part = sum - x;
      term = (x - (sum - part)) + (term - part);
      x = sum;
    }
    terms_.push_back(x);
  }

  void add_product(double a, double b) {
    const double product = a * b;
    add(std::fma(a, b, -product));  // what its rounding lost
    add(product);
  }

  double leading() const {
    const auto found =
        std::find_if(terms_.rbegin(), terms_.rend(), [](double x) { return x != 0; });
    return found == terms_.rend() ? 0 : *found;
  }

 private:
  std::vector<double> terms_;
};

bool fits(double x) { return x == 0 || (std::abs(x) >= 1e-130 && std::abs(x) <= 1e150); }

}  // namespace

void check_points(std::string_view algorithm, const Points& points) {
  RENAR_CHECK(points.x.size() == points.y.size() && points.size() >= 1,
              "[{}] {} x and {} y, give as many of one as of the other and at least one point",
              algorithm, points.x.size(), points.y.size());
  for (int i = 0; i < points.size(); ++i) {
    RENAR_CHECK(fits(points.x[i]) && fits(points.y[i]),
                "[{}] point {} is ({}, {}), expected 0 or numbers of a size from 1e-130 to 1e150",
                algorithm, i, points.x[i], points.y[i]);
  }
}

double direction(const Points& points, int i, int j, int k) {
  const std::vector<double>&x = points.x, &y = points.y;
  return (x[k] - x[i]) * (y[j] - y[i]) - (x[j] - x[i]) * (y[k] - y[i]);
}

double exact_direction(const Points& points, int i, int j, int k) {
  const std::vector<double>&x = points.x, &y = points.y;
  const double left = (x[k] - x[i]) * (y[j] - y[i]), right = (x[j] - x[i]) * (y[k] - y[i]);
  // Four roundings at most, of 2^-53 each, go into either product and their difference.
  if (std::abs(left - right) > 5e-16 * (std::abs(left) + std::abs(right))) return left - right;

  ExactSum sum;  // the cross product multiplied out, where x_i y_i cancels
  sum.add_product(x[k], y[j]);
  sum.add_product(-x[k], y[i]);
  sum.add_product(-x[i], y[j]);
  sum.add_product(-x[j], y[k]);
  sum.add_product(x[j], y[i]);
  sum.add_product(x[i], y[k]);
  return sum.leading();
}

bool on_segment(const Points& points, int i, int j, int k) {
  const std::vector<double>&x = points.x, &y = points.y;
  return std::min(x[i], x[j]) <= x[k] && x[k] <= std::max(x[i], x[j]) &&
         std::min(y[i], y[j]) <= y[k] && y[k] <= std::max(y[i], y[j]);
}

bool same_place(const Points& points, int i, int j) {
  return points.x[i] == points.x[j] && points.y[i] == points.y[j];
}

int lowest_point(const Points& points) {
  const std::vector<double>&x = points.x, &y = points.y;
  int best = 0;
  for (int i = 1; i < points.size(); ++i) {
    if (y[i] < y[best] || (y[i] == y[best] && x[i] < x[best])) best = i;
  }
  return best;
}

}  // namespace renar
