#include "kernels/reconstruction_loss.h"

#include "core/check.h"
#include "kernels/element_loss.h"
#include "kernels/mask_cross_entropy.h"
#include "kernels/pointwise.h"
#include "kernels/softmax.h"

namespace renar {
namespace {

/// The numbers of a Reconstructed; weight and either gradient may be absent.
struct Sides {
  const Real *x, *t, *w;
  Real *dx, *dt;
  const std::uint8_t* samples;
  std::int64_t each;  // numbers of a sample

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(x, count)
        .reads(t, count)
        .reads(w, count)
        .reads(samples, count / each)
        .writes(dx, count)
        .writes(dt, count);
  }
  RENAR_HOST_DEVICE bool leaves_out(std::int64_t i) const {
    return samples != nullptr && samples[i / each] == 0;
  }
  RENAR_HOST_DEVICE bool has_grad() const { return dx != nullptr || dt != nullptr; }
  RENAR_HOST_DEVICE Real weight(std::int64_t i) const { return w != nullptr ? w[i] : Real{1}; }
  RENAR_HOST_DEVICE void add(std::int64_t i, Real to_x, Real to_t) const {
    if (dx != nullptr) dx[i] += to_x;
    if (dt != nullptr) dt[i] += to_t;
  }
};

Sides sides_of(const Reconstructed& r) {
  RENAR_CHECK(r.truth.size() == r.prediction.size() &&
                  (!r.weight || r.weight.size() == r.prediction.size()),
              "[reconstruction_loss] {} predictions, {} truths", r.prediction.size(),
              r.truth.size());
  return {r.prediction.data,
          r.truth.data,
          r.weight.data,
          r.prediction.grad,
          r.truth.grad,
          r.samples,
          r.prediction.size() / r.prediction.dim(0)};
}

/// A loss that is a sum over elements: the three formulas as functions of (x, t). An element whose
/// truth is kMasked does not count where the formula leaves it out.
struct Squares {
  static constexpr bool kLeavesOutMasked = false;
  RENAR_HOST_DEVICE static Real value(Real x, Real t) { return (x - t) * (x - t); }
  RENAR_HOST_DEVICE static Real by_prediction(Real x, Real t) { return 2 * (x - t); }
  RENAR_HOST_DEVICE static Real by_truth(Real x, Real t) { return 2 * (t - x); }
};
struct Binary {
  static constexpr bool kLeavesOutMasked = true;
  RENAR_HOST_DEVICE static Real value(Real x, Real t) { return mask_cost(x, t); }
  RENAR_HOST_DEVICE static Real by_prediction(Real x, Real t) { return sigmoid_of(x) - t; }
  RENAR_HOST_DEVICE static Real by_truth(Real x, Real) { return -x; }
};
struct Likelihood {
  static constexpr bool kLeavesOutMasked = false;
  RENAR_HOST_DEVICE static Real value(Real x, Real t) { return -t * x; }
  RENAR_HOST_DEVICE static Real by_prediction(Real, Real t) { return -t; }
  RENAR_HOST_DEVICE static Real by_truth(Real x, Real) { return -x; }
};

template <class Formula>
struct OfElements {
  Sides s;

  Touched touched(std::int64_t count) const { return s.touched(count); }
  RENAR_HOST_DEVICE bool has_grad() const { return s.has_grad(); }
  RENAR_HOST_DEVICE bool leaves_out(std::int64_t i) const {
    return s.leaves_out(i) || (Formula::kLeavesOutMasked && s.t[i] == kMasked);
  }
  RENAR_HOST_DEVICE double cost(std::int64_t i) const {
    if (leaves_out(i)) return 0;
    return static_cast<double>(s.weight(i) * Formula::value(s.x[i], s.t[i]));
  }
  RENAR_HOST_DEVICE void pass(std::int64_t i, Real scale) const {
    if (leaves_out(i)) return;
    const Real x = s.x[i], t = s.t[i], w = scale * s.weight(i);
    s.add(i, w * Formula::by_prediction(x, t), w * Formula::by_truth(x, t));
  }
};

/// Rows of logits and whether each counts: null for all.
struct Rows {
  Sides s;
  std::int64_t rows, cols;
  const Real* counted;

  RENAR_HOST_DEVICE bool counts(std::int64_t r) const {
    return !s.leaves_out(r * cols) && (counted == nullptr || counted[r] != 0);
  }
  RENAR_HOST_DEVICE Real mass(std::int64_t i) const { return s.weight(i) * s.t[i]; }
  RENAR_HOST_DEVICE double cost(std::int64_t i, const SoftmaxRow& softmax) const {
    const Real weighted = mass(i);
    if (weighted == 0) return 0;
    return -static_cast<double>(weighted * softmax.log_probability(s.x[i]));
  }
  /// `of_row` is the mass of the row: 1 where all of it counts.
  RENAR_HOST_DEVICE void pass(std::int64_t i, const SoftmaxRow& softmax, Real of_row,
                              Real scale) const {
    const Real w = s.weight(i);
    s.add(i, scale * (of_row * softmax.probability(s.x[i]) - w * s.t[i]),
          -scale * w * softmax.log_probability(s.x[i]));
  }
};

/// What the CPU's forward pass leaves to backward.
struct RowsOnCpu {
  Rows in;
  SoftmaxRow* softmax;  // of every row

  double cost(std::int64_t i) const {
    const std::int64_t r = i / in.cols;
    return in.counts(r) ? in.cost(i, softmax[r]) : 0;
  }
  void pass_row(std::int64_t r, Real scale) const {
    if (!in.counts(r)) return;
    const std::int64_t begin = r * in.cols, end = begin + in.cols;
    Real mass = 0;
    for (std::int64_t i = begin; i < end; ++i) mass += in.mass(i);
    for (std::int64_t i = begin; i < end; ++i) in.pass(i, softmax[r], mass, scale);
  }
};

// A warp a row finds cost and gradients at once; its lanes sum cost and mass.
struct CrossEntropyOfRow {
  Rows in;
  const Real* scale;
  double* costs;

  Touched touched(std::int64_t rows) const {
    return in.s.touched(rows * in.cols).reads(in.counted, rows).reads(scale, 1).writes(costs, rows);
  }
  __device__ void operator()(std::int64_t r) const {
    if (!in.counts(r)) return;
    const SoftmaxRow softmax = warp_softmax_row(in.s.x + r * in.cols, in.cols);
    const std::int64_t begin = r * in.cols + lane_index(), end = (r + 1) * in.cols;
    Real mass = 0;
    double cost = 0;
    for (std::int64_t i = begin; i < end; i += kWarp) {
      mass += in.mass(i);
      cost += in.cost(i, softmax);
    }
    mass = warp_sum(mass);
    cost = warp_sum(cost);
    const Real by = *scale;
    if (lane_index() == 0) costs[r] += static_cast<double>(by) * cost;
    if (!in.s.has_grad()) return;
    for (std::int64_t i = begin; i < end; i += kWarp) in.pass(i, softmax, mass, by);
  }
};

struct CountRow {
  const Real* fed_in;
  std::int64_t classes, each;  // rows of a sample
  RowRule rule;
  Real* counted;

  Touched touched(std::int64_t rows) const {
    return Touched()
        .reads(fed_in, rows * classes)
        .reads(rule.forced, rows / each)
        .writes(counted, rows);
  }
  RENAR_HOST_DEVICE bool is_truth(std::int64_t r) const {
    return rule.all_truth || (rule.forced != nullptr && rule.forced[r / each] != 0);
  }
  RENAR_HOST_DEVICE bool is_marked(std::int64_t r) const {
    for (std::int64_t i = r * classes; i < (r + 1) * classes; ++i) {
      if (fed_in[i] == 1) return true;
    }
    return false;
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t r) const {
    const bool counts = is_truth(r) ? is_marked(r) : rule.counts_predicted;
    counted[r] = counts ? Real{1} : Real{0};
  }
};

}  // namespace

void reconstruction_squares(Tape& tape, const Reconstructed& r, const Real* scale,
                            const LossSum& sum) {
  element_loss(tape, r.prediction.size(), OfElements<Squares>{sides_of(r)}, scale, sum);
}

void reconstruction_binary(Tape& tape, const Reconstructed& r, const Real* scale,
                           const LossSum& sum) {
  element_loss(tape, r.prediction.size(), OfElements<Binary>{sides_of(r)}, scale, sum);
}

void reconstruction_likelihood(Tape& tape, const Reconstructed& r, const Real* scale,
                               const LossSum& sum) {
  element_loss(tape, r.prediction.size(), OfElements<Likelihood>{sides_of(r)}, scale, sum);
}

void reconstruction_cross_entropy(Tape& tape, const Reconstructed& r, const Real* counted,
                                  const Real* scale, const LossSum& sum) {
  const Rows in{sides_of(r), r.prediction.rows(), r.prediction.cols(), counted};
  if (tape.device() != Device::kCpu) {
    double* costs = costs_for(sum, in.rows);
    return tape.record_loss([=] { for_each_row(in.rows, CrossEntropyOfRow{in, scale, costs}); });
  }
  const RowsOnCpu here{in, tape.array<SoftmaxRow>(in.rows)};
  for (std::int64_t k = 0; k < in.rows; ++k) {
    here.softmax[k] = softmax_row(in.s.x + k * in.cols, in.cols);
  }
  add_costs_on_cpu(in.rows * in.cols, here, scale, sum);
  if (!in.s.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t k = 0; k < in.rows; ++k) here.pass_row(k, *scale);
  });
}

const Real* counted_rows(Tape& tape, Tensor fed_in, const RowRule& rule) {
  const std::int64_t rows = fed_in.rows();
  Real* counted = tape.array<Real>(rows);
  for_each(tape.device(), rows,
           CountRow{fed_in.data, fed_in.cols(), rows / fed_in.dim(0), rule, counted});
  return counted;
}

}  // namespace renar
