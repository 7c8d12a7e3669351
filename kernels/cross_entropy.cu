#include "kernels/cross_entropy.h"

#include "core/check.h"
#include "core/launch.h"
#include "kernels/element_loss.h"
#include "kernels/softmax.h"

namespace renar {
namespace {

/// Rows of logits, or of log probabilities, the class of each and, unless null, their gradients.
struct Rows {
  const Real* x;
  std::int64_t cols;
  const std::int32_t* target;
  Real* dx;

  Touched touched(std::int64_t rows) const {
    return Touched().reads(x, rows * cols).reads(target, rows).writes(dx, rows * cols);
  }
  RENAR_HOST_DEVICE bool has_grad() const { return dx != nullptr; }
  RENAR_HOST_DEVICE Real at_target(std::int64_t r) const { return x[r * cols + target[r]]; }
};

struct CrossEntropy {
  Rows in;

  RENAR_HOST_DEVICE double cost(std::int64_t r, const SoftmaxRow& softmax) const {
    return -static_cast<double>(softmax.log_probability(in.at_target(r)));
  }
  RENAR_HOST_DEVICE void pass(std::int64_t r, std::int64_t c, const SoftmaxRow& softmax,
                              Real scale) const {
    const std::int64_t i = r * in.cols + c;
    const Real truth = c == in.target[r] ? Real{1} : Real{0};
    in.dx[i] += scale * (softmax.probability(in.x[i]) - truth);
  }
};

/// What the CPU's forward pass leaves to backward.
struct CrossEntropyOnCpu {
  CrossEntropy loss;
  SoftmaxRow* softmax;  // of every row

  double cost(std::int64_t r) const { return loss.in.target[r] < 0 ? 0 : loss.cost(r, softmax[r]); }
  void pass_row(std::int64_t r, Real scale) const {
    if (loss.in.target[r] < 0) return;
    for (std::int64_t c = 0; c < loss.in.cols; ++c) loss.pass(r, c, softmax[r], scale);
  }
};

/// On a device a warp finds cost and gradient of a row at once.
struct CrossEntropyJob {
  CrossEntropy loss;
  const Real* scale;
  double* costs;

  Touched touched(std::int64_t rows) const {
    return loss.in.touched(rows).reads(scale, 1).writes(costs, rows);
  }
  __device__ void operator()(std::int64_t r) const {
    const Rows& in = loss.in;
    if (in.target[r] < 0) return;
    const SoftmaxRow softmax = warp_softmax_row(in.x + r * in.cols, in.cols);
    if (lane_index() == 0) costs[r] += static_cast<double>(*scale) * loss.cost(r, softmax);
    if (!in.has_grad()) return;
    const Real by = *scale;
    for (std::int64_t c = lane_index(); c < in.cols; c += kWarp) loss.pass(r, c, softmax, by);
  }
};

struct Likelihood {
  Rows in;

  Touched touched(std::int64_t count) const { return in.touched(count); }
  RENAR_HOST_DEVICE bool has_grad() const { return in.has_grad(); }
  RENAR_HOST_DEVICE double cost(std::int64_t r) const {
    return in.target[r] < 0 ? 0 : -static_cast<double>(in.at_target(r));
  }
  RENAR_HOST_DEVICE void pass(std::int64_t r, Real scale) const {
    if (in.target[r] >= 0) in.dx[r * in.cols + in.target[r]] -= scale;
  }
};

void check_targets(Device device, const Rows& in, std::int64_t rows) {
  if (device != Device::kCpu) return;  // the targets are out of the host's reach
  for (std::int64_t r = 0; r < rows; ++r) {
    RENAR_CHECK(in.target[r] < in.cols, "[cross_entropy] target {} of row {} among {} classes",
                in.target[r], r, in.cols);
  }
}

}  // namespace

void cross_entropy(Tape& tape, Tensor logits, const std::int32_t* target, const Real* scale,
                   const LossSum& sum) {
  const std::int64_t rows = logits.rows();
  const CrossEntropy loss{{logits.data, logits.cols(), target, logits.grad}};
  check_targets(tape.device(), loss.in, rows);
  if (tape.device() != Device::kCpu) {
    const CrossEntropyJob job{loss, scale, costs_for(sum, rows)};
    return tape.record_loss([=] { for_each_row(rows, job); });
  }
  const CrossEntropyOnCpu here{loss, tape.array<SoftmaxRow>(rows)};
  for (std::int64_t r = 0; r < rows; ++r) {
    here.softmax[r] = softmax_row(loss.in.x + r * loss.in.cols, loss.in.cols);
  }
  add_costs_on_cpu(rows, here, scale, sum);
  if (!loss.in.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t r = 0; r < rows; ++r) here.pass_row(r, *scale);
  });
}

void negative_log_likelihood(Tape& tape, Tensor log_probabilities, const std::int32_t* target,
                             const Real* scale, const LossSum& sum) {
  const Tensor x = log_probabilities;
  const Likelihood loss{{x.data, x.cols(), target, x.grad}};
  check_targets(tape.device(), loss.in, x.rows());
  element_loss(tape, x.rows(), loss, scale, sum);
}

}  // namespace renar
