#include "kernels/pointer_head.h"

#include <initializer_list>
#include <numeric>

#include "core/check.h"
#include "core/simd.h"

namespace renar {
namespace {

// Sixteen running sums, so that the reduction over c is vectorised without reordering between
// clones.
constexpr int kSums = 16;

[[gnu::always_inline]] inline Real dot_of_maximum(std::int64_t h, const Real* w, const Real* point,
                                                  const Real* target) {
  Real sums[kSums] = {};
  std::int64_t c = 0;
  for (; c + kSums <= h; c += kSums) {
    for (int s = 0; s < kSums; ++s) {
      const Real p = point[c + s], t = target[c + s];
      sums[s] += w[c + s] * (p > t ? p : t);
    }
  }
  for (; c < h; ++c) sums[0] += w[c] * (point[c] > target[c] ? point[c] : target[c]);
  for (int width = kSums / 2; width > 0; width /= 2) {
    for (int s = 0; s < width; ++s) sums[s] += sums[s + width];
  }
  return sums[0];
}

// n logits whose targets follow one another; the next point and the next logit are some numbers on.
RENAR_CLONES void logits_of(std::int64_t n, std::int64_t h, const Real* w, Real bias,
                            const Real* point, std::int64_t point_step, const Real* target, Real* y,
                            std::int64_t y_step) {
  for (std::int64_t m = 0; m < n; ++m) {
    y[m * y_step] = bias + dot_of_maximum(h, w, point + m * point_step, target + m * h);
  }
}

// What j points at, for channels c .. c + kWidth: the gradients of point[j] and w stay in registers
// while all n targets pass. The larger side takes g w with g = dy[j,k], both half where equal.
template <int kWidth>
[[gnu::always_inline]] inline void pass_channels(std::int64_t n, std::int64_t stride,
                                                 const Real* dy, const Real* w, const Real* point,
                                                 const Real* target, Real* __restrict dw,
                                                 Real* __restrict dpoint,
                                                 Real* __restrict dtarget) {
  Real to_w[kWidth] = {}, to_p[kWidth] = {};
  for (std::int64_t k = 0; k < n; ++k, target += stride, dtarget += stride) {
    for (int c = 0; c < kWidth; ++c) {
      const Real p = point[c], t = target[c];
      const Real share = Real{0.5} * (static_cast<Real>(p > t) + static_cast<Real>(p >= t));
      const Real d = dy[k] * w[c];
      to_w[c] += dy[k] * (p > t ? p : t);
      to_p[c] += d * share;
      dtarget[c] += d * (1 - share);
    }
  }
  for (int c = 0; c < kWidth; ++c) {
    dw[c] += to_w[c];
    dpoint[c] += to_p[c];
  }
}

// target and dtarget start at node k = 0 of this j; the next k is `stride` numbers on.
RENAR_CLONES void pass_to_larger(std::int64_t n, std::int64_t h, std::int64_t stride,
                                 const Real* dy, const Real* w, const Real* point,
                                 const Real* target, Real* __restrict dw, Real* __restrict dpoint,
                                 Real* dtarget) {
  constexpr int kWidth = 64;  // two sums of 64 floats: 16 vectors of AVX2, 8 of AVX-512
  std::int64_t c = 0;
  for (; c + kWidth <= h; c += kWidth) {
    pass_channels<kWidth>(n, stride, dy, w + c, point + c, target + c, dw + c, dpoint + c,
                          dtarget + c);
  }
  for (; c < h; ++c) {
    pass_channels<1>(n, stride, dy, w + c, point + c, target + c, dw + c, dpoint + c, dtarget + c);
  }
}

void check_extents(const Tensor& point, const Tensor& target) {
  RENAR_CHECK(point.shape.rank == 3 &&
                  target.shape == (Shape{point.dim(0), point.dim(1), point.dim(1), point.dim(2)}),
              "[pointer_head] point {} and target {} do not fit", point.shape.text(),
              target.shape.text());
}

void check_edge_extents(const Tensor& point, const Tensor& target) {
  RENAR_CHECK(target.shape.rank == 3 && point.shape == (Shape{target.dim(0), target.dim(1),
                                                              target.dim(1), target.dim(2)}),
              "[edge_pointer_head] point {} and target {} do not fit", point.shape.text(),
              target.shape.text());
}

void check_weights(const Tensor& w, const Tensor& bias, std::int64_t h) {
  RENAR_CHECK(w.size() == h && bias.size() == 1, "[pointer_head] w {} and bias {} for {} channels",
              w.shape.text(), bias.shape.text(), h);
}

void check_gradients(const Tensor& y, std::initializer_list<Tensor> inputs) {
  for (const Tensor& input : inputs) {
    RENAR_CHECK(input.has_grad() == y.has_grad(),
                "[pointer_head] all inputs must want a gradient, or none");
  }
}

// m = max(point, target), and its backward. walk(each) calls each(place in m, in point, in target)
// for every number of m.
template <class Walk>
void write_maximum(const Walk& walk, const Tensor& point, const Tensor& target, const Tensor& m) {
  walk([&](auto at, auto p, auto t) {
    m.data[at] = point.data[p] > target.data[t] ? point.data[p] : target.data[t];
  });
}

template <class Walk>
void split_gradient(const Walk& walk, const Tensor& point, const Tensor& target, const Tensor& m) {
  walk([&](auto at, auto p, auto t) {
    const Real a = point.data[p], b = target.data[t];
    const Real to_point = a > b ? Real{1} : (a == b ? Real{0.5} : Real{0});
    point.grad[p] += to_point * m.grad[at];
    target.grad[t] += (1 - to_point) * m.grad[at];
  });
}

}  // namespace

Tensor pointer_head(Tape& tape, Tensor point, Tensor target, Tensor w, Tensor bias) {
  check_extents(point, target);
  const std::int64_t batch = point.dim(0), n = point.dim(1), h = point.dim(2);
  check_weights(w, bias, h);
  Tensor y = tape.output({batch, n, n}, {point, target, w, bias});  // (B,N,N)
  if (y.has_grad()) check_gradients(y, {point, target, w, bias});
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t k = 0; k < n; ++k) {
      logits_of(n, h, w.data, bias.data[0], point.data + b * n * h, h,
                target.data + (b * n + k) * n * h, y.data + b * n * n + k, n);
    }
  }
  tape.record(y, [=] {
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t j = 0; j < n; ++j) {
        const Real* dy = y.grad + (b * n + j) * n;
        const std::int64_t p = (b * n + j) * h, t = (b * n * n + j) * h;
        pass_to_larger(n, h, n * h, dy, w.data, point.data + p, target.data + t, w.grad,
                       point.grad + p, target.grad + t);
        // Under a softmax this sum is 0 but for rounding: take it alone, in double.
        bias.grad[0] += static_cast<Real>(std::accumulate(dy, dy + n, 0.0));
      }
    }
  });
  return y;
}

Tensor edge_pointer_head(Tape& tape, Tensor point, Tensor target, Tensor w, Tensor bias) {
  check_edge_extents(point, target);
  const std::int64_t batch = target.dim(0), n = target.dim(1), h = target.dim(2);
  check_weights(w, bias, h);
  Tensor y = tape.output({batch, n, n, n}, {point, target, w, bias});  // (B,N,N,N)
  if (y.has_grad()) check_gradients(y, {point, target, w, bias});
  for (std::int64_t edge = 0; edge < batch * n * n; ++edge) {
    logits_of(n, h, w.data, bias.data[0], point.data + edge * h, 0,
              target.data + edge / (n * n) * n * h, y.data + edge * n, 1);
  }
  tape.record(y, [=] {
    for (std::int64_t edge = 0; edge < batch * n * n; ++edge) {
      const Real* dy = y.grad + edge * n;
      const std::int64_t p = edge * h, t = edge / (n * n) * n * h;
      pass_to_larger(n, h, h, dy, w.data, point.data + p, target.data + t, w.grad, point.grad + p,
                     target.grad + t);
    }
    bias.grad[0] += static_cast<Real>(std::accumulate(y.grad, y.grad + y.size(), 0.0));
  });
  return y;
}

Tensor pointer_maximum(Tape& tape, Tensor point, Tensor target) {
  check_extents(point, target);
  const std::int64_t n = point.dim(1), h = point.dim(2);
  check_gradients(point, {target});
  Tensor m = tape.output(target.shape, {point, target});  // (B,N,N,H)
  const auto walk = [=](const auto& each) {
    for (std::int64_t at = 0; at < m.size(); ++at) {
      const std::int64_t c = at % h, k = at / h % n, j = at / h / n % n, b = at / h / n / n;
      each(at, (b * n + j) * h + c, ((b * n + k) * n + j) * h + c);
    }
  };
  write_maximum(walk, point, target, m);
  tape.record(m, [=] { split_gradient(walk, point, target, m); });
  return m;
}

Tensor edge_pointer_maximum(Tape& tape, Tensor point, Tensor target) {
  check_edge_extents(point, target);
  const std::int64_t batch = target.dim(0), n = target.dim(1), h = target.dim(2);
  check_gradients(point, {target});
  Tensor m = tape.output({batch, n, n, n, h}, {point, target});  // (B,N,N,N,H)
  const auto walk = [=](const auto& each) {
    for (std::int64_t at = 0; at < m.size(); ++at) {
      const std::int64_t c = at % h, k = at / h % n, edge = at / h / n, b = edge / n / n;
      each(at, edge * h + c, (b * n + k) * h + c);
    }
  };
  write_maximum(walk, point, target, m);
  tape.record(m, [=] { split_gradient(walk, point, target, m); });
  return m;
}

}  // namespace renar
