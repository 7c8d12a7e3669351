#include "kernels/gated_update.h"

#include "core/check.h"
#include "core/launch.h"
#include "kernels/pointwise.h"

namespace renar {
namespace {

struct Mix {
  const Real *gate, *fresh, *old;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched().reads(gate, count).reads(fresh, count).reads(old, count).writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    y[i] = fresh[i] * gate[i] + old[i] * (1 - gate[i]);
  }
};

/// Gradients of fresh * gate + old * (1 - gate); each may be absent. Gives the gate's back.
struct MixBackward {
  const Real *dy, *gate, *fresh, *old;
  Real *dgate, *dfresh, *dold;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(dy, count)
        .reads(gate, count)
        .reads(fresh, count)
        .reads(old, count)
        .writes(dgate, count)
        .writes(dfresh, count)
        .writes(dold, count);
  }
  RENAR_HOST_DEVICE Real pass_to_sides(std::int64_t i) const {
    if (dfresh != nullptr) dfresh[i] += dy[i] * gate[i];
    if (dold != nullptr) dold[i] += dy[i] * (1 - gate[i]);
    return dy[i] * (fresh[i] - old[i]);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    const Real d = pass_to_sides(i);
    if (dgate != nullptr) dgate[i] += d;
  }
};

struct Update {
  const Real* logit;
  Real* gate;
  Mix mix;

  Touched touched(std::int64_t count) const {
    return mix.touched(count).reads(logit, count).writes(gate, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    gate[i] = sigmoid_of(logit[i]);
    mix(i);
  }
};

struct UpdateBackward {
  MixBackward mix;
  Real* dlogit;

  Touched touched(std::int64_t count) const { return mix.touched(count).writes(dlogit, count); }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    const Real g = mix.gate[i], dgate = mix.pass_to_sides(i);
    if (dlogit != nullptr) dlogit[i] += dgate * g * (1 - g);
  }
};

void check(const Tensor& gate, const Tensor& fresh, const Tensor& old) {
  RENAR_CHECK(gate.shape == fresh.shape && fresh.shape == old.shape,
              "[gated_update] gate {}, fresh {} and old {} differ", gate.shape.text(),
              fresh.shape.text(), old.shape.text());
}

Mix forward_of(const Tensor& gate, const Tensor& fresh, const Tensor& old, const Tensor& y) {
  return {gate.data, fresh.data, old.data, y.data};
}
MixBackward backward_of(const Tensor& gate, const Tensor& fresh, const Tensor& old,
                        const Tensor& y) {
  return {y.grad, gate.data, fresh.data, old.data, gate.grad, fresh.grad, old.grad};
}

}  // namespace

Tensor gated_update(Tape& tape, Tensor logit, Tensor fresh, Tensor old) {
  check(logit, fresh, old);
  Tensor y = tape.output(logit.shape, {logit, fresh, old});
  Tensor gate = tape.constant(logit.shape);
  for_each(tape.device(), y.size(), Update{logit.data, gate.data, forward_of(gate, fresh, old, y)});
  tape.record(y, [=, device = tape.device()] {
    for_each(device, y.size(), UpdateBackward{backward_of(gate, fresh, old, y), logit.grad});
  });
  return y;
}

Tensor mix(Tape& tape, Tensor gate, Tensor fresh, Tensor old) {
  check(gate, fresh, old);
  Tensor y = tape.output(gate.shape, {gate, fresh, old});
  for_each(tape.device(), y.size(), forward_of(gate, fresh, old, y));
  tape.record(y, [=, device = tape.device()] {
    for_each(device, y.size(), backward_of(gate, fresh, old, y));
  });
  return y;
}

}  // namespace renar
