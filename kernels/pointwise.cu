#include "kernels/pointwise.h"

#include "core/check.h"

namespace renar {

Tensor relu(Tape& tape, Tensor x) {
  Tensor y = tape.output(x.shape, {x});
  for (std::int64_t i = 0; i < x.size(); ++i) y.data[i] = x.data[i] > 0 ? x.data[i] : Real{0};
  tape.record(y, [=] {
    for (std::int64_t i = 0; i < x.size(); ++i) x.grad[i] += y.data[i] > 0 ? y.grad[i] : Real{0};
  });
  return y;
}

Tensor leaky_relu(Tape& tape, Tensor x) {
  constexpr Real kSlope = 0.01;
  Tensor y = tape.output(x.shape, {x});
  for (std::int64_t i = 0; i < x.size(); ++i) {
    y.data[i] = x.data[i] >= 0 ? x.data[i] : kSlope * x.data[i];
  }
  tape.record(y, [=] {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      x.grad[i] += x.data[i] >= 0 ? y.grad[i] : kSlope * y.grad[i];
    }
  });
  return y;
}

Tensor sigmoid(Tape& tape, Tensor x) {
  Tensor y = tape.output(x.shape, {x});
  for (std::int64_t i = 0; i < x.size(); ++i) y.data[i] = sigmoid_of(x.data[i]);
  tape.record(y, [=] {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      x.grad[i] += y.grad[i] * y.data[i] * (1 - y.data[i]);
    }
  });
  return y;
}

Tensor exponential(Tape& tape, Tensor x) {
  Tensor y = tape.output(x.shape, {x});
  for (std::int64_t i = 0; i < x.size(); ++i) y.data[i] = std::exp(x.data[i]);
  tape.record(y, [=] {
    for (std::int64_t i = 0; i < x.size(); ++i) x.grad[i] += y.grad[i] * y.data[i];
  });
  return y;
}

Tensor add(Tape& tape, Tensor a, Tensor b) {
  RENAR_CHECK(a.shape == b.shape, "[add] shapes {} and {}", a.shape.text(), b.shape.text());
  Tensor y = tape.output(a.shape, {a, b});
  for (std::int64_t i = 0; i < y.size(); ++i) y.data[i] = a.data[i] + b.data[i];
  tape.record(y, [=] {
    for (const Tensor& x : {a, b}) {
      if (!x.has_grad()) continue;
      for (std::int64_t i = 0; i < y.size(); ++i) x.grad[i] += y.grad[i];
    }
  });
  return y;
}

}  // namespace renar
