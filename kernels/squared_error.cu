#include "kernels/squared_error.h"

#include "kernels/total.h"

namespace renar {
namespace {

struct Cost {
  const Real *pred, *truth;

  RENAR_HOST_DEVICE double operator()(std::int64_t i) const {
    const Real error = pred[i] - truth[i];
    return static_cast<double>(error * error);
  }
};

struct Backward {
  const Real *pred, *truth;
  Real scale;
  Real* dpred;

  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    dpred[i] += 2 * scale * (pred[i] - truth[i]);
  }
};

}  // namespace

void squared_error(Tape& tape, Tensor pred, const Real* truth, Real scale, double& sum) {
  add_total(tape, pred.size(), Cost{pred.data, truth}, scale, sum);
  if (!pred.has_grad()) return;
  tape.record_loss([=, device = tape.device()] {
    for_each(device, pred.size(), Backward{pred.data, truth, scale, pred.grad});
  });
}

}  // namespace renar
