#include "kernels/pointwise.h"

#include "core/check.h"
#include "core/launch.h"
#include "kernels/accumulate.h"

namespace renar {
namespace {

// Each function has f(x) and df(dy, x, y), the gradient that reaches x.
struct Relu {
  RENAR_HOST_DEVICE static Real f(Real x) { return x > 0 ? x : Real{0}; }
  RENAR_HOST_DEVICE static Real df(Real dy, Real, Real y) { return y > 0 ? dy : Real{0}; }
};

struct LeakyRelu {
  static constexpr Real kSlope = 0.01;
  RENAR_HOST_DEVICE static Real f(Real x) { return x >= 0 ? x : kSlope * x; }
  RENAR_HOST_DEVICE static Real df(Real dy, Real x, Real) { return x >= 0 ? dy : kSlope * dy; }
};

struct Sigmoid {
  RENAR_HOST_DEVICE static Real f(Real x) { return sigmoid_of(x); }
  RENAR_HOST_DEVICE static Real df(Real dy, Real, Real y) { return dy * y * (1 - y); }
};

struct Exponential {
  RENAR_HOST_DEVICE static Real f(Real x) { return std::exp(x); }
  RENAR_HOST_DEVICE static Real df(Real dy, Real, Real y) { return dy * y; }
};

template <class Function>
struct Forward {
  const Real* x;
  Real* y;

  Touched touched(std::int64_t count) const { return Touched().reads(x, count).writes(y, count); }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { y[i] = Function::f(x[i]); }
};

template <class Function>
struct Backward {
  const Real *dy, *x, *y;
  Real* dx;

  Touched touched(std::int64_t count) const {
    return Touched().reads(dy, count).reads(x, count).reads(y, count).writes(dx, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    dx[i] += Function::df(dy[i], x[i], y[i]);
  }
};

template <class Function>
Tensor pointwise(Tape& tape, Tensor x) {
  Tensor y = tape.output(x.shape, {x});
  for_each(tape.device(), x.size(), Forward<Function>{x.data, y.data});
  tape.record(y, [=, device = tape.device()] {
    for_each(device, x.size(), Backward<Function>{y.grad, x.data, y.data, x.grad});
  });
  return y;
}

struct Add {
  const Real *a, *b;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched().reads(a, count).reads(b, count).writes(y, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { y[i] = a[i] + b[i]; }
};

}  // namespace

Tensor relu(Tape& tape, Tensor x) { return pointwise<Relu>(tape, x); }
Tensor leaky_relu(Tape& tape, Tensor x) { return pointwise<LeakyRelu>(tape, x); }
Tensor sigmoid(Tape& tape, Tensor x) { return pointwise<Sigmoid>(tape, x); }
Tensor exponential(Tape& tape, Tensor x) { return pointwise<Exponential>(tape, x); }

Tensor add(Tape& tape, Tensor a, Tensor b) {
  RENAR_CHECK(a.shape == b.shape, "[add] shapes {} and {}", a.shape.text(), b.shape.text());
  Tensor y = tape.output(a.shape, {a, b});
  for_each(tape.device(), y.size(), Add{a.data, b.data, y.data});
  tape.record(y, [=, device = tape.device()] {
    if (a.has_grad()) accumulate(device, y.size(), y.grad, a.grad);
    if (b.has_grad()) accumulate(device, y.size(), y.grad, b.grad);
  });
  return y;
}

}  // namespace renar
