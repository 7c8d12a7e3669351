#include "kernels/cross_entropy.h"

#include <cmath>

#include "core/check.h"
#include "kernels/softmax.h"

namespace renar {

void cross_entropy(Tape& tape, Tensor logits, const std::int32_t* target, Real scale, double& sum) {
  const std::int64_t cols = logits.cols();
  double total = 0;
  for (std::int64_t r = 0; r < logits.rows(); ++r) {
    if (target[r] < 0) continue;
    RENAR_CHECK(target[r] < cols, "[cross_entropy] target {} of row {} among {} classes", target[r],
                r, cols);
    const Real* x = logits.data + r * cols;
    total -= static_cast<double>(log_softmax(x, cols)(x[target[r]]));
  }
  sum += static_cast<double>(scale) * total;
  if (!logits.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t r = 0; r < logits.rows(); ++r) {
      if (target[r] < 0) continue;
      const Real* x = logits.data + r * cols;
      const LogSoftmax log_p = log_softmax(x, cols);
      for (std::int64_t c = 0; c < cols; ++c) {
        logits.grad[r * cols + c] += scale * std::exp(log_p(x[c]));
      }
      logits.grad[r * cols + target[r]] -= scale;
    }
  });
}

}  // namespace renar
