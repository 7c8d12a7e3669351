#include "kernels/cross_entropy.h"

#include "core/check.h"
#include "kernels/softmax.h"
#include "kernels/total.h"

namespace renar {
namespace {

/// Rows of logits, or of log probabilities, and the class of each.
struct Rows {
  const Real* x;
  std::int64_t cols;
  const std::int32_t* target;
};

struct CrossEntropy {
  Rows in;
  const SoftmaxRow* softmax;

  RENAR_HOST_DEVICE double operator()(std::int64_t r) const {
    if (in.target[r] < 0) return 0;
    return -static_cast<double>(softmax[r].log_probability(in.x[r * in.cols + in.target[r]]));
  }
};

/// An element at a time: rows are short, and what all of a row needs is saved.
struct CrossEntropyBackward {
  Rows in;
  const SoftmaxRow* softmax;
  Real scale;
  Real* dx;

  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t r = i / in.cols;
    if (in.target[r] < 0) return;
    const Real truth = i - r * in.cols == in.target[r] ? Real{1} : Real{0};
    dx[i] += scale * (softmax[r].probability(in.x[i]) - truth);
  }
};

struct Likelihood {
  Rows in;

  RENAR_HOST_DEVICE double operator()(std::int64_t r) const {
    return in.target[r] < 0 ? 0 : -static_cast<double>(in.x[r * in.cols + in.target[r]]);
  }
};

struct LikelihoodBackward {
  Rows in;
  Real scale;
  Real* dx;

  RENAR_HOST_DEVICE void operator()(std::int64_t r) const {
    if (in.target[r] >= 0) dx[r * in.cols + in.target[r]] -= scale;
  }
};

void check_targets(Device device, const std::int32_t* target, std::int64_t rows,
                   std::int64_t cols) {
  if (device != Device::kCpu) return;  // the targets are out of the host's reach
  for (std::int64_t r = 0; r < rows; ++r) {
    RENAR_CHECK(target[r] < cols, "[cross_entropy] target {} of row {} among {} classes", target[r],
                r, cols);
  }
}

}  // namespace

void cross_entropy(Tape& tape, Tensor logits, const std::int32_t* target, Real scale, double& sum) {
  const Device device = tape.device();
  const std::int64_t rows = logits.rows();
  const Rows in{logits.data, logits.cols(), target};
  check_targets(device, target, rows, in.cols);
  SoftmaxRow* softmax = tape.array<SoftmaxRow>(rows);
  softmax_rows(device, rows, in.cols, in.x, softmax);
  add_total(tape, rows, CrossEntropy{in, softmax}, scale, sum);
  if (!logits.has_grad()) return;
  tape.record_loss([=] {
    for_each(device, rows * in.cols, CrossEntropyBackward{in, softmax, scale, logits.grad});
  });
}

void negative_log_likelihood(Tape& tape, Tensor log_probabilities, const std::int32_t* target,
                             Real scale, double& sum) {
  const Tensor x = log_probabilities;
  const Device device = tape.device();
  const Rows in{x.data, x.cols(), target};
  check_targets(device, target, x.rows(), in.cols);
  add_total(tape, x.rows(), Likelihood{in}, scale, sum);
  if (!x.has_grad()) return;
  tape.record_loss([=] { for_each(device, x.rows(), LikelihoodBackward{in, scale, x.grad}); });
}

}  // namespace renar
