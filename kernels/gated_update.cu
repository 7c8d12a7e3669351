#include "kernels/gated_update.h"

#include "core/check.h"
#include "kernels/pointwise.h"

namespace renar {
namespace {

void check(const Tensor& gate, const Tensor& fresh, const Tensor& old) {
  RENAR_CHECK(gate.shape == fresh.shape && fresh.shape == old.shape,
              "[gated_update] gate {}, fresh {} and old {} differ", gate.shape.text(),
              fresh.shape.text(), old.shape.text());
}

// Gradients of fresh * gate + old * (1 - gate) but for the gate's, which is returned.
Real pass_to_sides(std::int64_t i, Real gate, Real dy, const Tensor& fresh, const Tensor& old) {
  if (fresh.has_grad()) fresh.grad[i] += dy * gate;
  if (old.has_grad()) old.grad[i] += dy * (1 - gate);
  return dy * (fresh.data[i] - old.data[i]);
}

}  // namespace

Tensor gated_update(Tape& tape, Tensor logit, Tensor fresh, Tensor old) {
  check(logit, fresh, old);
  Tensor y = tape.output(logit.shape, {logit, fresh, old});
  Tensor gate = tape.constant(logit.shape);
  for (std::int64_t i = 0; i < y.size(); ++i) {
    gate.data[i] = sigmoid_of(logit.data[i]);
    y.data[i] = fresh.data[i] * gate.data[i] + old.data[i] * (1 - gate.data[i]);
  }
  tape.record(y, [=] {
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const Real g = gate.data[i], dgate = pass_to_sides(i, g, y.grad[i], fresh, old);
      if (logit.has_grad()) logit.grad[i] += dgate * g * (1 - g);
    }
  });
  return y;
}

Tensor mix(Tape& tape, Tensor gate, Tensor fresh, Tensor old) {
  check(gate, fresh, old);
  Tensor y = tape.output(gate.shape, {gate, fresh, old});
  for (std::int64_t i = 0; i < y.size(); ++i) {
    y.data[i] = fresh.data[i] * gate.data[i] + old.data[i] * (1 - gate.data[i]);
  }
  tape.record(y, [=] {
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const Real dgate = pass_to_sides(i, gate.data[i], y.grad[i], fresh, old);
      if (gate.has_grad()) gate.grad[i] += dgate;
    }
  });
  return y;
}

}  // namespace renar
