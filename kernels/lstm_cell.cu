#include "kernels/lstm_cell.h"

#include <cmath>

#include "core/check.h"
#include "core/launch.h"
#include "kernels/pointwise.h"

namespace renar {
namespace {

constexpr Real kForgetBias = 1;

/// One element's gates, and tanh of its new cell.
struct Element {
  Real i, g, f, o, tanh_cell;
};

struct StepCell {
  std::int64_t h;
  const Real *gates, *old;
  Element* elements;
  Real *cell, *hidden;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(gates, 4 * count)
        .reads(old, count)
        .writes(elements, count)
        .writes(cell, count)
        .writes(hidden, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const Real* x = gates + at / h * 4 * h + at % h;
    Element e{sigmoid_of(x[0]), std::tanh(x[h]), sigmoid_of(x[2 * h] + kForgetBias),
              sigmoid_of(x[3 * h]), 0};
    cell[at] = e.f * old[at] + e.i * e.g;
    e.tanh_cell = std::tanh(cell[at]);
    hidden[at] = e.o * e.tanh_cell;
    elements[at] = e;
  }
};

struct PassThroughCell {
  std::int64_t h;
  const Element* elements;
  const Real *old, *dhidden, *dcell;
  Real *dgates, *dold;  // may be null

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(elements, count)
        .reads(old, count)
        .reads(dhidden, count)
        .reads(dcell, count)
        .writes(dgates, 4 * count)
        .writes(dold, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const Element& e = elements[at];
    const Real dh = dhidden[at];
    const Real dc = dcell[at] + dh * e.o * (1 - e.tanh_cell * e.tanh_cell);
    if (dold != nullptr) dold[at] += dc * e.f;
    if (dgates == nullptr) return;
    Real* dx = dgates + at / h * 4 * h + at % h;
    dx[0] += dc * e.g * e.i * (1 - e.i);
    dx[h] += dc * e.i * (1 - e.g * e.g);
    dx[2 * h] += dc * old[at] * e.f * (1 - e.f);
    dx[3 * h] += dh * e.tanh_cell * e.o * (1 - e.o);
  }
};

}  // namespace

LstmState lstm_cell(Tape& tape, Tensor gates, Tensor old) {
  const std::int64_t h = old.cols();
  RENAR_CHECK(gates.cols() == 4 * h && gates.rows() == old.rows(),
              "[lstm_cell] gates {} do not fit cell {}", gates.shape.text(), old.shape.text());
  const LstmState next{tape.output(old.shape, {gates, old}), tape.output(old.shape, {gates, old})};
  Element* elements = tape.array<Element>(old.size());
  for_each(tape.device(), old.size(),
           StepCell{h, gates.data, old.data, elements, next.cell.data, next.hidden.data});
  tape.record(next.hidden, [=, device = tape.device()] {
    for_each(device, old.size(),
             PassThroughCell{h, elements, old.data, next.hidden.grad, next.cell.grad, gates.grad,
                             old.grad});
  });
  return next;
}

}  // namespace renar
