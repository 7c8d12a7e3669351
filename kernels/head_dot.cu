#include "kernels/head_dot.h"

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"
#include "kernels/learned_sums.h"

namespace renar {
namespace {

RENAR_CLONES void add_scaled(std::int64_t width, Real scale, const Real* x, Real* y) {
  for (std::int64_t f = 0; f < width; ++f) y[f] += scale * x[f];
}

// sum over f of a[f] b[f]
Real dot(std::int64_t width, const Real* a, const Real* b) {
  Real sum = 0;
  for (std::int64_t f = 0; f < width; ++f) sum += a[f] * b[f];
  return sum;
}

/// What head_dot has and its backward needs.
struct Dots {
  std::int64_t rows, count, width;
  std::span<const Head> heads;
  Tensor x, y;
  // Of a device: what is summed for the parameters' gradients, head after head.
  std::int64_t chunks;
  Real* w_parts;  // (K, chunks, F), or null where nothing is learned
  Real* b_parts;  // (K, chunks)
};

void dots_on_cpu(const Dots& s) {
  for (std::int64_t r = 0; r < s.rows; ++r) {
    for (std::int64_t k = 0; k < s.count; ++k) {
      const Head& head = s.heads[static_cast<std::size_t>(k)];
      s.y.data[r * s.count + k] =
          dot(s.width, s.x.data + (r * s.count + k) * s.width, head.w.data) + head.b.data[0];
    }
  }
}

void pass_dots_on_cpu(const Dots& s) {
  for (std::int64_t r = 0; r < s.rows; ++r) {
    for (std::int64_t k = 0; k < s.count; ++k) {
      const Head& head = s.heads[static_cast<std::size_t>(k)];
      const std::int64_t at = (r * s.count + k) * s.width;
      const Real* dy = s.y.grad + r * s.count + k;
      if (s.x.has_grad()) add_scaled(s.width, *dy, head.w.data, s.x.grad + at);
      if (head.w.has_grad()) add_scaled(s.width, *dy, s.x.data + at, head.w.grad);
      if (head.b.has_grad()) head.b.grad[0] += *dy;
    }
  }
}

/// Heads that one kernel serves: their parameters lie apart.
struct SomeHeads {
  static constexpr int kMost = 8;

  std::int64_t all, width;    // K, F
  std::int64_t first, count;  // the first of these in a row, and how many they are
  const Real *w[kMost], *b[kMost];

  Touched touched() const {
    Touched t;
    for (std::int64_t k = 0; k < count; ++k) t.reads(w[k], width).reads(b[k], 1);
    return t;
  }
};

template <class Each>
void for_some_heads(const Dots& s, const Each& each) {
  for (std::int64_t first = 0; first < s.count; first += SomeHeads::kMost) {
    SomeHeads some = {s.count, s.width, first, 0, {}, {}};
    for (; some.count < SomeHeads::kMost && first + some.count < s.count; ++some.count) {
      const Head& head = s.heads[static_cast<std::size_t>(first + some.count)];
      some.w[some.count] = head.w.data;
      some.b[some.count] = head.b.data;
    }
    each(some);
  }
}

// A warp a row and head: their F numbers lie side by side.
struct DotHead {
  SomeHeads heads;
  const Real* x;
  Real* y;

  Touched touched(std::int64_t dots) const {
    const std::int64_t size = dots / heads.count * heads.all;
    return heads.touched().reads(x, size * heads.width).writes(y, size);
  }
  __device__ void operator()(std::int64_t dot) const {
    const std::int64_t k = dot % heads.count, width = heads.width;
    const std::int64_t at = dot / heads.count * heads.all + heads.first + k;
    Real sum = 0;
    for (std::int64_t f = lane_index(); f < width; f += kWarp) {
      sum += x[at * width + f] * heads.w[k][f];
    }
    sum = warp_sum(sum);
    if (lane_index() == 0) y[at] = sum + heads.b[k][0];
  }
};

struct PassToRows {
  SomeHeads heads;
  const Real* dy;
  Real* dx;

  Touched touched(std::int64_t count) const {
    const std::int64_t size = count / (heads.count * heads.width) * heads.all;
    return heads.touched().reads(dy, size).writes(dx, size * heads.width);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t f = at % heads.width, k = at / heads.width % heads.count;
    const std::int64_t r = at / heads.width / heads.count, dot = r * heads.all + heads.first + k;
    dx[dot * heads.width + f] += dy[dot] * heads.w[k][f];
  }
};

// The gradients of w and b are sums over all rows of edges, of which there are many more than
// columns: a thread has a column of x and kChunk rows, kernels/learned_sums.h adds the chunks.
struct SumChunk {
  static constexpr std::int64_t kChunk = 32;

  std::int64_t rows, count, width, chunks;
  const Real *x, *dy;
  Real *w_parts, *b_parts;

  Touched touched(std::int64_t parts) const {
    return Touched()
        .reads(x, rows * count * width)
        .reads(dy, rows * count)
        .writes(w_parts, parts)
        .writes(b_parts, parts / width);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    const std::int64_t h = count * width, c = at % h, k = c / width, f = c % width;
    const std::int64_t chunk = at / h;
    Real to_w = 0, to_b = 0;
    for (std::int64_t r = chunk * kChunk; r < (chunk + 1) * kChunk && r < rows; ++r) {
      const Real d = dy[r * count + k];
      to_w += d * x[r * h + c];
      to_b += d;
    }
    const std::int64_t part = k * chunks + chunk;
    w_parts[part * width + f] = to_w;
    if (f == 0) b_parts[part] = to_b;
  }
};

void dots_on_device(Tape& tape, const Dots& s) {
  for_some_heads(s, [&](const SomeHeads& some) {
    for_each_row(s.rows * some.count, DotHead{some, s.x.data, s.y.data});
  });
  if (s.w_parts == nullptr) return;
  for (std::int64_t k = 0; k < s.count; ++k) {
    const Head& head = s.heads[static_cast<std::size_t>(k)];
    learn_bias(tape, head.w, s.w_parts + k * s.chunks * s.width, s.chunks);
    learn_bias(tape, head.b, s.b_parts + k * s.chunks, s.chunks);
  }
}

void pass_dots_on_device(Device device, const Dots& s) {
  if (s.x.has_grad()) {
    for_some_heads(s, [&](const SomeHeads& some) {
      for_each(device, s.rows * some.count * s.width, PassToRows{some, s.y.grad, s.x.grad});
    });
  }
  if (s.w_parts == nullptr) return;
  for_each(device, s.chunks * s.count * s.width,
           SumChunk{s.rows, s.count, s.width, s.chunks, s.x.data, s.y.grad, s.w_parts, s.b_parts});
}

}  // namespace

Tensor head_dot(Tape& tape, Tensor x, std::span<const Head> heads) {
  const auto count = static_cast<std::int64_t>(heads.size());
  const std::int64_t rows = x.rows(), width = count == 0 ? 0 : x.cols() / count;
  bool learns = false;
  for (const Head& head : heads) {
    RENAR_CHECK(head.w.size() * count == x.cols() && head.b.size() == 1,
                "[head_dot] w {} and b {} of {} heads do not fit x {}", head.w.shape.text(),
                head.b.shape.text(), count, x.shape.text());
    learns = learns || head.w.has_grad() || head.b.has_grad();
  }
  RENAR_CHECK(count > 0, "[head_dot] no heads for x {}", x.shape.text());
  Shape shape = x.shape;
  shape.extent[static_cast<std::size_t>(shape.rank - 1)] = count;
  Tensor y = tape.output(shape, x.has_grad() || learns);  // (..,K)
  const Device device = tape.device();
  const bool on_cpu = device == Device::kCpu;
  const std::int64_t chunks = blocks_for(rows, SumChunk::kChunk);
  Dots s{rows, count, width, heads, x, y, chunks, nullptr, nullptr};
  if (on_cpu) {
    dots_on_cpu(s);
  } else {
    if (learns && y.has_grad()) {
      s.w_parts = tape.array<Real>(count * chunks * width);
      s.b_parts = tape.array<Real>(count * chunks);
    }
    dots_on_device(tape, s);
  }
  tape.record(y, [=] { on_cpu ? pass_dots_on_cpu(s) : pass_dots_on_device(device, s); });
  return y;
}

}  // namespace renar
