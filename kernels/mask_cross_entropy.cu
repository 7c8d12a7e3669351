#include "kernels/mask_cross_entropy.h"

#include "kernels/pointwise.h"
#include "kernels/total.h"

namespace renar {
namespace {

struct Cost {
  const Real *x, *truth;

  RENAR_HOST_DEVICE double operator()(std::int64_t i) const {
    return truth[i] == kMasked ? 0 : static_cast<double>(mask_cost(x[i], truth[i]));
  }
};

struct Backward {
  const Real *x, *truth;
  Real scale;
  Real* dx;

  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    if (truth[i] != kMasked) dx[i] += scale * (sigmoid_of(x[i]) - truth[i]);
  }
};

}  // namespace

void mask_cross_entropy(Tape& tape, Tensor logits, const Real* truth, Real scale, double& sum) {
  add_total(tape, logits.size(), Cost{logits.data, truth}, scale, sum);
  if (!logits.has_grad()) return;
  tape.record_loss([=, device = tape.device()] {
    for_each(device, logits.size(), Backward{logits.data, truth, scale, logits.grad});
  });
}

}  // namespace renar
