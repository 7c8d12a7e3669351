#include "kernels/reconstruction_loss.h"

#include "core/check.h"
#include "kernels/mask_cross_entropy.h"
#include "kernels/pointwise.h"
#include "kernels/softmax.h"

namespace renar {
namespace {

Real weight_at(const Reconstructed& r, std::int64_t i) {
  return r.weight ? r.weight.data[i] : Real{1};
}

void add(const Tensor& x, std::int64_t i, Real gradient) {
  if (x.has_grad()) x.grad[i] += gradient;
}

/// A loss that is a sum over elements: the three formulas as functions of (x, t).
struct Squares {
  static Real value(Real x, Real t) { return (x - t) * (x - t); }
  static Real by_prediction(Real x, Real t) { return 2 * (x - t); }
  static Real by_truth(Real x, Real t) { return 2 * (t - x); }
};
struct Binary {
  static Real value(Real x, Real t) { return mask_cost(x, t); }
  static Real by_prediction(Real x, Real t) { return sigmoid_of(x) - t; }
  static Real by_truth(Real x, Real) { return -x; }
};
struct Likelihood {
  static Real value(Real x, Real t) { return -t * x; }
  static Real by_prediction(Real, Real t) { return -t; }
  static Real by_truth(Real x, Real) { return -x; }
};

void check(const Reconstructed& r) {
  RENAR_CHECK(r.truth.size() == r.prediction.size() &&
                  (!r.weight || r.weight.size() == r.prediction.size()),
              "[reconstruction_loss] {} predictions, {} truths", r.prediction.size(),
              r.truth.size());
}

/// Sums `Formula` over the elements; those whose truth is `left_out` do not count.
template <class Formula>
void element_loss(Tape& tape, const Reconstructed& r, bool leaves_out_masked, Real scale,
                  double& sum) {
  check(r);
  const auto counts = [=](std::int64_t i) {
    return !leaves_out_masked || r.truth.data[i] != kMasked;
  };
  double total = 0;
  for (std::int64_t i = 0; i < r.prediction.size(); ++i) {
    if (!counts(i)) continue;
    total += static_cast<double>(weight_at(r, i) *
                                 Formula::value(r.prediction.data[i], r.truth.data[i]));
  }
  sum += static_cast<double>(scale) * total;
  if (!r.prediction.has_grad() && !r.truth.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t i = 0; i < r.prediction.size(); ++i) {
      if (!counts(i)) continue;
      const Real x = r.prediction.data[i], t = r.truth.data[i], w = scale * weight_at(r, i);
      add(r.prediction, i, w * Formula::by_prediction(x, t));
      add(r.truth, i, w * Formula::by_truth(x, t));
    }
  });
}

}  // namespace

void reconstruction_squares(Tape& tape, const Reconstructed& r, Real scale, double& sum) {
  element_loss<Squares>(tape, r, /*leaves_out_masked=*/false, scale, sum);
}

void reconstruction_binary(Tape& tape, const Reconstructed& r, Real scale, double& sum) {
  element_loss<Binary>(tape, r, /*leaves_out_masked=*/true, scale, sum);
}

void reconstruction_likelihood(Tape& tape, const Reconstructed& r, Real scale, double& sum) {
  element_loss<Likelihood>(tape, r, /*leaves_out_masked=*/false, scale, sum);
}

void reconstruction_cross_entropy(Tape& tape, const Reconstructed& r, const Real* counted,
                                  Real scale, double& sum) {
  check(r);
  const std::int64_t cols = r.prediction.cols(), rows = r.prediction.rows();
  double total = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (counted != nullptr && counted[row] == 0) continue;
    const Real* x = r.prediction.data + row * cols;
    const SoftmaxRow softmax = softmax_row(x, cols);
    for (std::int64_t c = 0; c < cols; ++c) {
      const Real weighted = weight_at(r, row * cols + c) * r.truth.data[row * cols + c];
      if (weighted != 0) total -= static_cast<double>(weighted * softmax.log_probability(x[c]));
    }
  }
  sum += static_cast<double>(scale) * total;
  if (!r.prediction.has_grad() && !r.truth.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t row = 0; row < rows; ++row) {
      if (counted != nullptr && counted[row] == 0) continue;
      const Real* x = r.prediction.data + row * cols;
      const SoftmaxRow softmax = softmax_row(x, cols);
      Real mass = 0;  // of the weighted truth: 1 where all of a row counts
      for (std::int64_t c = 0; c < cols; ++c) {
        mass += weight_at(r, row * cols + c) * r.truth.data[row * cols + c];
      }
      for (std::int64_t c = 0; c < cols; ++c) {
        const std::int64_t i = row * cols + c;
        const Real w = weight_at(r, i);
        add(r.prediction, i, scale * (mass * softmax.probability(x[c]) - w * r.truth.data[i]));
        add(r.truth, i, -scale * w * softmax.log_probability(x[c]));
      }
    }
  });
}

}  // namespace renar
