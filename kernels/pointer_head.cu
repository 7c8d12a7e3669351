#include "kernels/pointer_head.h"

#include <initializer_list>
#include <numeric>

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"
#include "kernels/learned_sums.h"

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

/// Where things lie in both heads. Row r of point, of P a sample, points with n logits y[r,k]; the
/// target that it compares itself with for k is a row of its own (P = N) or k's (P = N N).
struct Rows {
  std::int64_t batch, n, h;
  std::int64_t pointers;  // P
  bool own_targets;

  RENAR_HOST_DEVICE std::int64_t points() const { return batch * pointers; }
  std::int64_t targets() const { return own_targets ? points() * n : batch * n; }
  RENAR_HOST_DEVICE std::int64_t target(std::int64_t r, std::int64_t k) const {
    const std::int64_t node = r / pointers * n + k;
    return own_targets ? node * pointers + r % pointers : node;
  }
  /// From a row's target for k to that for k + 1.
  RENAR_HOST_DEVICE std::int64_t apart() const { return own_targets ? pointers : 1; }
};

RENAR_HOST_DEVICE inline Real larger_of(Real p, Real t) { return p > t ? p : t; }
RENAR_HOST_DEVICE inline Real share_of_point(Real p, Real t) {
  return p > t ? Real{1} : (p == t ? Real{0.5} : Real{0});
}

/// The gradient of the maximum at (r,k,c): dy is a logit's, or where there is no w the maximum's.
struct OfMaximum {
  std::int64_t h;
  const Real *dy, *w;

  Touched touched(std::int64_t logits) const {
    return Touched().reads(dy, w != nullptr ? logits : logits * h).reads(w, h);
  }
  RENAR_HOST_DEVICE Real operator()(std::int64_t logit, std::int64_t c) const {
    return w != nullptr ? dy[logit] * w[c] : dy[logit * h + c];
  }
};

/// Where parts of the parameters' gradients go, which are sums over them: null where nobody wants
/// them, as on the CPU.
struct Parts {
  Real* w;     // (B N,H)
  Real* bias;  // (B P)
};

// On a device a warp has a logit: H is 128 as a rule, four numbers a lane.
struct FindLogit {
  Rows rows;
  const Real *w, *bias, *point, *target;
  Real* y;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(w, rows.h)
        .reads(bias, 1)
        .reads(point, rows.points() * rows.h)
        .reads(target, rows.targets() * rows.h)
        .writes(y, count);
  }
  __device__ void operator()(std::int64_t logit) const {
    const std::int64_t h = rows.h, r = logit / rows.n, t = rows.target(r, logit % rows.n);
    Real sum = 0;
    for (std::int64_t c = lane_index(); c < h; c += kWarp) {
      sum += w[c] * larger_of(point[r * h + c], target[t * h + c]);
    }
    sum = warp_sum(sum);
    if (lane_index() == 0) y[logit] = *bias + sum;
  }
};

// A thread has channel c of what points, for all that it points at; a warp reads whole lines.
// Targets of its own get their gradient in the same pass. The products for w and the gradient of
// the bias are summed over k here and over the rows at the end (kernels/learned_sums.h).
struct PassToPoint {
  Rows rows;
  OfMaximum gradient;
  const Real *point, *target;
  Real* dpoint;
  Real* dtarget;  // null where targets are shared
  Parts parts;    // of w where targets are its own

  Touched touched(std::int64_t count) const {
    return gradient.touched(rows.points() * rows.n)
        .reads(point, count)
        .reads(target, rows.targets() * rows.h)
        .writes(dpoint, count)
        .writes(dtarget, rows.targets() * rows.h)
        .writes(parts.w, count)
        .writes(parts.bias, rows.points());
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % rows.h, r = at / rows.h;
    const std::int64_t first = rows.target(r, 0) * rows.h + c, apart = rows.apart() * rows.h;
    const Real p = point[at];
    Real to_point = dpoint[at], to_w = 0;
    // Several k at a time: all that they read is on its way before anything is written.
    for (std::int64_t k0 = 0; k0 < rows.n; k0 += kAtOnce) {
      Real t[kAtOnce] = {}, d[kAtOnce] = {}, dy[kAtOnce] = {}, dt[kAtOnce] = {};
      RENAR_UNROLL
      for (int e = 0; e < kAtOnce; ++e) {
        const std::int64_t k = k0 + e;
        if (k >= rows.n) continue;
        t[e] = target[first + k * apart];
        d[e] = gradient(r * rows.n + k, c);
        if (parts.w != nullptr) dy[e] = gradient.dy[r * rows.n + k];
        if (dtarget != nullptr) dt[e] = dtarget[first + k * apart];
      }
      RENAR_UNROLL
      for (int e = 0; e < kAtOnce; ++e) {
        const std::int64_t k = k0 + e;
        if (k >= rows.n) continue;
        const Real share = share_of_point(p, t[e]);
        to_point += share * d[e];
        to_w += dy[e] * larger_of(p, t[e]);
        if (dtarget != nullptr) dtarget[first + k * apart] = dt[e] + (1 - share) * d[e];
      }
    }
    dpoint[at] = to_point;
    if (parts.w != nullptr) parts.w[at] = to_w;
    if (parts.bias == nullptr || c != 0) return;
    // Under a softmax this sum is 0 but for rounding: take it alone, in double.
    double of_row = 0;
    for (std::int64_t k = 0; k < rows.n; ++k) of_row += gradient.dy[r * rows.n + k];
    parts.bias[r] = static_cast<Real>(of_row);
  }

  static constexpr int kAtOnce = 4;
};

// The same for channel c of a shared target, over all that may point at it.
struct PassToTarget {
  Rows rows;
  OfMaximum gradient;
  const Real *point, *target;
  Real* dtarget;
  Real* dw_rows;  // (B N,H), or null

  Touched touched(std::int64_t count) const {
    return gradient.touched(rows.points() * rows.n)
        .reads(point, rows.points() * rows.h)
        .reads(target, count)
        .writes(dtarget, count)
        .writes(dw_rows, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % rows.h, k = at / rows.h % rows.n, b = at / rows.h / rows.n;
    const Real t = target[at];
    Real to_target = dtarget[at], to_w = 0;
    for (std::int64_t r = b * rows.pointers; r < (b + 1) * rows.pointers; ++r) {
      const Real p = point[r * rows.h + c], d = gradient(r * rows.n + k, c);
      to_target += (1 - share_of_point(p, t)) * d;
      if (dw_rows != nullptr) to_w += gradient.dy[r * rows.n + k] * larger_of(p, t);
    }
    dtarget[at] = to_target;
    if (dw_rows != nullptr) dw_rows[at] = to_w;
  }
};

/// What forward has and backward needs.
struct Saved {
  Rows rows;
  Tensor point, target, w, bias, y;
  Parts parts;
};

/// Gradients of point and target, and what is given of the parts.
void pass_maximum(Device device, const Rows& rows, const OfMaximum& gradient, const Tensor& point,
                  const Tensor& target, const Parts& parts) {
  const bool own = rows.own_targets;
  for_each(device, point.size(),
           PassToPoint{rows,
                       gradient,
                       point.data,
                       target.data,
                       point.grad,
                       own ? target.grad : nullptr,
                       {own ? parts.w : nullptr, parts.bias}});
  if (own) return;
  for_each(device, target.size(),
           PassToTarget{rows, gradient, point.data, target.data, target.grad, parts.w});
}

void forward_on_device(Tape& tape, const Saved& s) {
  for_each_row(s.y.size(),
               FindLogit{s.rows, s.w.data, s.bias.data, s.point.data, s.target.data, s.y.data});
  if (!s.y.has_grad()) return;
  learn_bias(tape, s.w, s.parts.w, s.rows.batch * s.rows.n);
  learn_bias(tape, s.bias, s.parts.bias, s.rows.points());
}

void backward_on_device(Device device, const Saved& s) {
  pass_maximum(device, s.rows, {s.rows.h, s.y.grad, s.w.data}, s.point, s.target, s.parts);
}

void pointer_forward_on_cpu(const Saved& s) {
  const std::int64_t n = s.rows.n, h = s.rows.h;
  for (std::int64_t b = 0; b < s.rows.batch; ++b) {
    for (std::int64_t k = 0; k < n; ++k) {
      logits_of(n, h, s.w.data, s.bias.data[0], s.point.data + b * n * h, h,
                s.target.data + (b * n + k) * n * h, s.y.data + b * n * n + k, n);
    }
  }
}

void pointer_backward_on_cpu(const Saved& s) {
  const std::int64_t n = s.rows.n, h = s.rows.h;
  for (std::int64_t b = 0; b < s.rows.batch; ++b) {
    for (std::int64_t j = 0; j < n; ++j) {
      const Real* dy = s.y.grad + (b * n + j) * n;
      const std::int64_t p = (b * n + j) * h, t = (b * n * n + j) * h;
      pass_to_larger(n, h, n * h, dy, s.w.data, s.point.data + p, s.target.data + t, s.w.grad,
                     s.point.grad + p, s.target.grad + t);
      // Under a softmax this sum is 0 but for rounding: take it alone, in double.
      s.bias.grad[0] += static_cast<Real>(std::accumulate(dy, dy + n, 0.0));
    }
  }
}

void edge_forward_on_cpu(const Saved& s) {
  const std::int64_t n = s.rows.n, h = s.rows.h;
  for (std::int64_t edge = 0; edge < s.rows.points(); ++edge) {
    logits_of(n, h, s.w.data, s.bias.data[0], s.point.data + edge * h, 0,
              s.target.data + edge / (n * n) * n * h, s.y.data + edge * n, 1);
  }
}

void edge_backward_on_cpu(const Saved& s) {
  const std::int64_t n = s.rows.n, h = s.rows.h;
  for (std::int64_t edge = 0; edge < s.rows.points(); ++edge) {
    const Real* dy = s.y.grad + edge * n;
    const std::int64_t p = edge * h, t = edge / (n * n) * n * h;
    pass_to_larger(n, h, h, dy, s.w.data, s.point.data + p, s.target.data + t, s.w.grad,
                   s.point.grad + p, s.target.grad + t);
  }
  s.bias.grad[0] += static_cast<Real>(std::accumulate(s.y.grad, s.y.grad + s.y.size(), 0.0));
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

/// The definitions' form: one functor for the CPU and the kernels.
struct Maximum {
  Rows rows;
  const Real *point, *target;
  Real* m;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(point, rows.points() * rows.h)
        .reads(target, rows.targets() * rows.h)
        .writes(m, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t c = at % rows.h, k = at / rows.h % rows.n, r = at / rows.h / rows.n;
    m[at] = larger_of(point[r * rows.h + c], target[rows.target(r, k) * rows.h + c]);
  }
};

Tensor maximum(Tape& tape, const Rows& rows, Tensor point, Tensor target, const Shape& shape) {
  check_gradients(point, {target});
  const Device device = tape.device();
  Tensor m = tape.output(shape, {point, target});
  for_each(device, m.size(), Maximum{rows, point.data, target.data, m.data});
  tape.record(m, [=] { pass_maximum(device, rows, {rows.h, m.grad, nullptr}, point, target, {}); });
  return m;
}

Rows pointer_rows(const Tensor& point, const Tensor& target) {
  check_extents(point, target);
  return {point.dim(0), point.dim(1), point.dim(2), point.dim(1), true};
}

Rows edge_pointer_rows(const Tensor& point, const Tensor& target) {
  check_edge_extents(point, target);
  const std::int64_t n = target.dim(1);
  return {target.dim(0), n, target.dim(2), n * n, false};
}

Saved start(Tape& tape, const Rows& rows, Tensor point, Tensor target, Tensor w, Tensor bias,
            const Shape& shape) {
  check_weights(w, bias, rows.h);
  Tensor y = tape.output(shape, {point, target, w, bias});
  if (y.has_grad()) check_gradients(y, {point, target, w, bias});
  Parts parts = {};
  if (y.has_grad() && tape.device() != Device::kCpu) {
    parts = {tape.array<Real>(rows.batch * rows.n * rows.h), tape.array<Real>(rows.points())};
  }
  return {rows, point, target, w, bias, y, parts};
}

}  // namespace

Tensor pointer_head(Tape& tape, Tensor point, Tensor target, Tensor w, Tensor bias) {
  const Rows rows = pointer_rows(point, target);
  const Saved s =
      start(tape, rows, point, target, w, bias, {rows.batch, rows.n, rows.n});  // (B,N,N)
  const Device device = tape.device();
  const bool on_cpu = device == Device::kCpu;
  on_cpu ? pointer_forward_on_cpu(s) : forward_on_device(tape, s);
  tape.record(s.y, [=] { on_cpu ? pointer_backward_on_cpu(s) : backward_on_device(device, s); });
  return s.y;
}

Tensor edge_pointer_head(Tape& tape, Tensor point, Tensor target, Tensor w, Tensor bias) {
  const Rows rows = edge_pointer_rows(point, target);
  const Saved s =
      start(tape, rows, point, target, w, bias, {rows.batch, rows.n, rows.n, rows.n});  // (B,N,N,N)
  const Device device = tape.device();
  const bool on_cpu = device == Device::kCpu;
  on_cpu ? edge_forward_on_cpu(s) : forward_on_device(tape, s);
  tape.record(s.y, [=] { on_cpu ? edge_backward_on_cpu(s) : backward_on_device(device, s); });
  return s.y;
}

Tensor pointer_maximum(Tape& tape, Tensor point, Tensor target) {
  const Rows rows = pointer_rows(point, target);
  return maximum(tape, rows, point, target, target.shape);  // (B,N,N,H)
}

Tensor edge_pointer_maximum(Tape& tape, Tensor point, Tensor target) {
  const Rows rows = edge_pointer_rows(point, target);
  return maximum(tape, rows, point, target,
                 {rows.batch, rows.n, rows.n, rows.n, rows.h});  // (B,N,N,N,H)
}

}  // namespace renar
