#include "kernels/squared_error.h"

namespace renar {

void squared_error(Tape& tape, Tensor pred, const Real* truth, Real scale, double& sum) {
  double total = 0;
  for (std::int64_t i = 0; i < pred.size(); ++i) {
    const Real error = pred.data[i] - truth[i];
    total += static_cast<double>(error * error);
  }
  sum += static_cast<double>(scale) * total;
  if (!pred.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t i = 0; i < pred.size(); ++i) {
      pred.grad[i] += 2 * scale * (pred.data[i] - truth[i]);
    }
  });
}

}  // namespace renar
