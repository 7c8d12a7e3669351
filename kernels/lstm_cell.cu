#include "kernels/lstm_cell.h"

#include <cmath>

#include "core/check.h"
#include "kernels/pointwise.h"

namespace renar {
namespace {

constexpr Real kForgetBias = 1;

/// One element's gates, and tanh of its new cell.
struct Element {
  Real i, g, f, o, tanh_cell;
};

}  // namespace

LstmState lstm_cell(Tape& tape, Tensor gates, Tensor old) {
  const std::int64_t h = old.cols();
  RENAR_CHECK(gates.cols() == 4 * h && gates.rows() == old.rows(),
              "[lstm_cell] gates {} do not fit cell {}", gates.shape.text(), old.shape.text());
  const LstmState next{tape.output(old.shape, {gates, old}), tape.output(old.shape, {gates, old})};
  Element* elements = tape.array<Element>(old.size());
  for (std::int64_t at = 0; at < old.size(); ++at) {
    const Real* x = gates.data + at / h * 4 * h + at % h;
    Element& e = elements[at];
    e = {sigmoid_of(x[0]), std::tanh(x[h]), sigmoid_of(x[2 * h] + kForgetBias),
         sigmoid_of(x[3 * h]), 0};
    next.cell.data[at] = e.f * old.data[at] + e.i * e.g;
    e.tanh_cell = std::tanh(next.cell.data[at]);
    next.hidden.data[at] = e.o * e.tanh_cell;
  }
  tape.record(next.hidden, [=] {
    for (std::int64_t at = 0; at < old.size(); ++at) {
      const Element& e = elements[at];
      const Real dhidden = next.hidden.grad[at];
      const Real dcell = next.cell.grad[at] + dhidden * e.o * (1 - e.tanh_cell * e.tanh_cell);
      if (old.has_grad()) old.grad[at] += dcell * e.f;
      if (!gates.has_grad()) continue;
      Real* dx = gates.grad + at / h * 4 * h + at % h;
      dx[0] += dcell * e.g * e.i * (1 - e.i);
      dx[h] += dcell * e.i * (1 - e.g * e.g);
      dx[2 * h] += dcell * old.data[at] * e.f * (1 - e.f);
      dx[3 * h] += dhidden * e.tanh_cell * e.o * (1 - e.o);
    }
  });
  return next;
}

}  // namespace renar
