#include "kernels/mask_cross_entropy.h"

#include "kernels/element_loss.h"
#include "kernels/pointwise.h"

namespace renar {
namespace {

struct MaskCrossEntropy {
  const Real *x, *truth;
  Real* dx;

  Touched touched(std::int64_t count) const {
    return Touched().reads(x, count).reads(truth, count).writes(dx, count);
  }
  RENAR_HOST_DEVICE bool has_grad() const { return dx != nullptr; }
  RENAR_HOST_DEVICE double cost(std::int64_t i) const {
    return truth[i] == kMasked ? 0 : static_cast<double>(mask_cost(x[i], truth[i]));
  }
  RENAR_HOST_DEVICE void pass(std::int64_t i, Real scale) const {
    if (truth[i] != kMasked) dx[i] += scale * (sigmoid_of(x[i]) - truth[i]);
  }
};

}  // namespace

void mask_cross_entropy(Tape& tape, Tensor logits, const Real* truth, const Real* scale,
                        const LossSum& sum) {
  element_loss(tape, logits.size(), MaskCrossEntropy{logits.data, truth, logits.grad}, scale, sum);
}

}  // namespace renar
