#include "kernels/adam.h"

#include <cmath>

#include "core/simd.h"

namespace renar {
namespace {

struct Factors {
  Real grad_scale, keep_m, take_m, keep_v, take_v, m_correction, v_correction, learning_rate,
      epsilon;
};

RENAR_CLONES void update(std::int64_t size, Factors f, const Real* grads, Real* values, Real* m,
                         Real* v) {
  for (std::int64_t i = 0; i < size; ++i) {
    const Real g = grads[i] * f.grad_scale;
    m[i] = f.keep_m * m[i] + f.take_m * g;
    v[i] = f.keep_v * v[i] + f.take_v * g * g;
    values[i] -=
        f.learning_rate * (m[i] / f.m_correction) / (std::sqrt(v[i] / f.v_correction) + f.epsilon);
  }
}

}  // namespace

double global_norm(const Real* grads, std::int64_t size) {
  double squares = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    squares += static_cast<double>(grads[i]) * static_cast<double>(grads[i]);
  }
  return std::sqrt(squares);
}

void adam(std::int64_t size, const AdamStep& s, const Real* grads, Real* values, Real* m, Real* v) {
  constexpr double kB1 = 0.9, kB2 = 0.999;
  const double t = static_cast<double>(s.step);
  update(size,
         {.grad_scale = static_cast<Real>(s.grad_scale),
          .keep_m = static_cast<Real>(kB1),
          .take_m = static_cast<Real>(1 - kB1),  // in double first: 1 - 0.999f is 1e-5 off
          .keep_v = static_cast<Real>(kB2),
          .take_v = static_cast<Real>(1 - kB2),
          .m_correction = static_cast<Real>(1 - std::pow(kB1, t)),
          .v_correction = static_cast<Real>(1 - std::pow(kB2, t)),
          .learning_rate = static_cast<Real>(s.learning_rate),
          .epsilon = static_cast<Real>(1e-8)},
         grads, values, m, v);
}

}  // namespace renar
