#include "kernels/squared_error.h"

#include "kernels/element_loss.h"

namespace renar {
namespace {

struct Squares {
  const Real *pred, *truth;
  Real* dpred;

  Touched touched(std::int64_t count) const {
    return Touched().reads(pred, count).reads(truth, count).writes(dpred, count);
  }
  RENAR_HOST_DEVICE bool has_grad() const { return dpred != nullptr; }
  RENAR_HOST_DEVICE double cost(std::int64_t i) const {
    if (truth[i] == kUncounted) return 0;
    const Real error = pred[i] - truth[i];
    return static_cast<double>(error * error);
  }
  RENAR_HOST_DEVICE void pass(std::int64_t i, Real scale) const {
    if (truth[i] != kUncounted) dpred[i] += 2 * scale * (pred[i] - truth[i]);
  }
};

}  // namespace

void squared_error(Tape& tape, Tensor pred, const Real* truth, const Real* scale,
                   const LossSum& sum) {
  element_loss(tape, pred.size(), Squares{pred.data, truth, pred.grad}, scale, sum);
}

}  // namespace renar
