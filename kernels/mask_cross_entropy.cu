#include "kernels/mask_cross_entropy.h"

#include "kernels/pointwise.h"

namespace renar {
void mask_cross_entropy(Tape& tape, Tensor logits, const Real* truth, Real scale, double& sum) {
  double total = 0;
  for (std::int64_t i = 0; i < logits.size(); ++i) {
    if (truth[i] == kMasked) continue;
    total += static_cast<double>(mask_cost(logits.data[i], truth[i]));
  }
  sum += static_cast<double>(scale) * total;
  if (!logits.has_grad()) return;
  tape.record_loss([=] {
    for (std::int64_t i = 0; i < logits.size(); ++i) {
      if (truth[i] != kMasked) logits.grad[i] += scale * (sigmoid_of(logits.data[i]) - truth[i]);
    }
  });
}

}  // namespace renar
