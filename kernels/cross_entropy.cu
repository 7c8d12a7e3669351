#include "kernels/cross_entropy.h"

#include "core/check.h"
#include "kernels/softmax.h"

namespace renar {
namespace {

void check_targets(const std::int32_t* target, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t r = 0; r < rows; ++r) {
    RENAR_CHECK(target[r] < cols, "[cross_entropy] target {} of row {} among {} classes", target[r],
                r, cols);
  }
}

}  // namespace

void cross_entropy(Tape& tape, Tensor logits, const std::int32_t* target, Real scale, double& sum) {
  const std::int64_t cols = logits.cols();
  check_targets(target, logits.rows(), cols);
  double total = 0;
  for (std::int64_t r = 0; r < logits.rows(); ++r) {
    if (target[r] < 0) continue;
    const Real* x = logits.data + r * cols;
    total -= static_cast<double>(softmax_row(x, cols).log_probability(x[target[r]]));
  }
  sum += static_cast<double>(scale) * total;
  if (!logits.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t r = 0; r < logits.rows(); ++r) {
      if (target[r] < 0) continue;
      const Real* x = logits.data + r * cols;
      const SoftmaxRow row = softmax_row(x, cols);
      for (std::int64_t c = 0; c < cols; ++c) {
        const Real truth = c == target[r] ? Real{1} : Real{0};
        logits.grad[r * cols + c] += scale * (row.probability(x[c]) - truth);
      }
    }
  });
}

void negative_log_likelihood(Tape& tape, Tensor log_probabilities, const std::int32_t* target,
                             Real scale, double& sum) {
  const Tensor x = log_probabilities;
  check_targets(target, x.rows(), x.cols());
  double total = 0;
  for (std::int64_t r = 0; r < x.rows(); ++r) {
    if (target[r] >= 0) total -= static_cast<double>(x.data[r * x.cols() + target[r]]);
  }
  sum += static_cast<double>(scale) * total;
  if (!x.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t r = 0; r < x.rows(); ++r) {
      if (target[r] >= 0) x.grad[r * x.cols() + target[r]] -= scale;
    }
  });
}

}  // namespace renar
