#include "kernels/layer_norm.h"

#include <cmath>

#include "core/check.h"
#include "core/launch.h"
#include "kernels/learned_sums.h"

namespace renar {
namespace {

constexpr Real kEpsilon = 1e-5;

struct Row {
  Real mean;
  Real inverse_deviation;

  RENAR_HOST_DEVICE Real normal(Real x) const { return (x - mean) * inverse_deviation; }
};

/// What forward has and backward needs.
struct Saved {
  Tensor x, scale, offset, y;
  Row* rows;
  Real* normal;  // (rows, H) on a device: dy times it, for the gradient of scale
};

Row statistics(const Real* x, std::int64_t h) {
  Real sum = 0, squares = 0;
  for (std::int64_t c = 0; c < h; ++c) sum += x[c];
  const Real mean = sum / static_cast<Real>(h);
  for (std::int64_t c = 0; c < h; ++c) squares += (x[c] - mean) * (x[c] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<Real>(h) + kEpsilon)};
}

void forward_on_cpu(const Saved& s) {
  const std::int64_t h = s.x.cols();
  for (std::int64_t r = 0; r < s.x.rows(); ++r) {
    const Real* in = s.x.data + r * h;
    s.rows[r] = statistics(in, h);
    for (std::int64_t c = 0; c < h; ++c) {
      s.y.data[r * h + c] =
          s.scale.data[c] * (in[c] - s.rows[r].mean) * s.rows[r].inverse_deviation +
          s.offset.data[c];
    }
  }
}

void backward_on_cpu(const Saved& s) {
  const std::int64_t h = s.x.cols();
  for (std::int64_t r = 0; r < s.x.rows(); ++r) {
    const Row row = s.rows[r];
    const Real* in = s.x.data + r * h;
    const Real* dy = s.y.grad + r * h;
    Real sum = 0, along = 0;  // of d = dy * scale, and of d along the normalised row
    for (std::int64_t c = 0; c < h; ++c) {
      const Real d = dy[c] * s.scale.data[c];
      sum += d;
      along += d * row.normal(in[c]);
      if (s.scale.has_grad()) s.scale.grad[c] += dy[c] * row.normal(in[c]);
      if (s.offset.has_grad()) s.offset.grad[c] += dy[c];
    }
    if (!s.x.has_grad()) continue;
    for (std::int64_t c = 0; c < h; ++c) {
      const Real centred = (sum + row.normal(in[c]) * along) / static_cast<Real>(h);
      s.x.grad[r * h + c] += (dy[c] * s.scale.data[c] - centred) * row.inverse_deviation;
    }
  }
}

// A warp a row: H is 128 as a rule, four numbers a lane.
struct NormaliseRow {
  std::int64_t h;
  const Real *x, *scale, *offset;
  Row* saved;
  Real* y;

  Touched touched(std::int64_t rows) const {
    return Touched()
        .reads(x, rows * h)
        .reads(scale, h)
        .reads(offset, h)
        .writes(saved, rows)
        .writes(y, rows * h);
  }
  __device__ void operator()(std::int64_t r) const {
    const Real* in = x + r * h;
    Real sum = 0, squares = 0;
    for (std::int64_t c = lane_index(); c < h; c += kWarp) sum += in[c];
    const Real mean = warp_sum(sum) / static_cast<Real>(h);
    for (std::int64_t c = lane_index(); c < h; c += kWarp) {
      squares += (in[c] - mean) * (in[c] - mean);
    }
    const Row row{mean, 1 / std::sqrt(warp_sum(squares) / static_cast<Real>(h) + kEpsilon)};
    for (std::int64_t c = lane_index(); c < h; c += kWarp) {
      y[r * h + c] = scale[c] * (in[c] - row.mean) * row.inverse_deviation + offset[c];
    }
    if (lane_index() == 0) saved[r] = row;
  }
};

// dx, and dy times the normalised row, which the gradient of scale is the sum of.
struct PassRow {
  std::int64_t h;
  const Real *x, *scale, *dy;
  const Row* saved;
  Real *dx, *along_normal;

  Touched touched(std::int64_t rows) const {
    return Touched()
        .reads(x, rows * h)
        .reads(scale, h)
        .reads(dy, rows * h)
        .reads(saved, rows)
        .writes(dx, rows * h)
        .writes(along_normal, rows * h);
  }
  __device__ void operator()(std::int64_t r) const {
    const Row row = saved[r];
    Real sum = 0, along = 0;
    for (std::int64_t c = lane_index(); c < h; c += kWarp) {
      const Real d = dy[r * h + c] * scale[c], normal = row.normal(x[r * h + c]);
      sum += d;
      along += d * normal;
      along_normal[r * h + c] = dy[r * h + c] * normal;
    }
    if (dx == nullptr) return;
    sum = warp_sum(sum);
    along = warp_sum(along);
    for (std::int64_t c = lane_index(); c < h; c += kWarp) {
      const Real centred = (sum + row.normal(x[r * h + c]) * along) / static_cast<Real>(h);
      dx[r * h + c] += (dy[r * h + c] * scale[c] - centred) * row.inverse_deviation;
    }
  }
};

void forward_on_device(Tape& tape, const Saved& s) {
  const std::int64_t rows = s.x.rows(), h = s.x.cols();
  for_each_row(rows, NormaliseRow{h, s.x.data, s.scale.data, s.offset.data, s.rows, s.y.data});
  if (!s.y.has_grad()) return;
  learn_bias(tape, s.scale, s.normal, rows);
  learn_bias(tape, s.offset, s.y.grad, rows);
}

void backward_on_device(const Saved& s) {
  for_each_row(s.x.rows(),
               PassRow{s.x.cols(), s.x.data, s.scale.data, s.y.grad, s.rows, s.x.grad, s.normal});
}

}  // namespace

Tensor layer_norm(Tape& tape, Tensor x, Tensor scale, Tensor offset) {
  const std::int64_t h = x.cols();
  RENAR_CHECK(scale.size() == h && offset.size() == h,
              "[layer_norm] scale {} and offset {} for {} channels", scale.shape.text(),
              offset.shape.text(), h);
  const bool wants_grad = x.has_grad() || scale.has_grad() || offset.has_grad();
  Tensor y = tape.lasting_output(x.shape, wants_grad);
  const bool on_cpu = tape.device() == Device::kCpu;
  const Saved saved{x,
                    scale,
                    offset,
                    y,
                    tape.array<Row>(x.rows()),
                    on_cpu || !y.has_grad() ? nullptr : tape.array<Real>(x.size())};
  on_cpu ? forward_on_cpu(saved) : forward_on_device(tape, saved);
  tape.record(y, [=] { on_cpu ? backward_on_cpu(saved) : backward_on_device(saved); });
  return y;
}

}  // namespace renar
