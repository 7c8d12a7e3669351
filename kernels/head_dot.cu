#include "kernels/head_dot.h"

#include "core/check.h"
#include "core/launch.h"
#include "core/simd.h"

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

/// What head_dot has and its backward needs. On a device the heads' numbers stand side by side, so
/// that one kernel serves all heads.
struct Dots {
  std::int64_t rows, count, width;
  std::span<const Head> heads;
  Tensor x, y;
  Real *w, *b;    // (H), (K)
  Real* partial;  // (chunks of rows, H + K)

  std::int64_t h() const { return count * width; }
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

// A warp a row and head: their F numbers lie side by side.
__global__ void dot_heads(std::int64_t dots, std::int64_t count, std::int64_t width, const Real* x,
                          const Real* w, const Real* b, Real* y) {
  const std::int64_t at = warp_index();
  if (at >= dots) return;
  const std::int64_t k = at % count;
  Real sum = 0;
  for (std::int64_t f = lane_index(); f < width; f += kWarp) {
    sum += x[at * width + f] * w[k * width + f];
  }
  sum = warp_sum(sum);
  if (lane_index() == 0) y[at] = sum + b[k];
}

struct PassToRows {
  std::int64_t h, width;
  const Real *dy, *w;
  Real* dx;

  RENAR_HOST_DEVICE void operator()(std::int64_t at) const { dx[at] += dy[at / width] * w[at % h]; }
};

// The gradients of w (columns 0 .. H) and b (the K after them) are sums over all rows of edges, of
// which there are many more than columns: blockIdx.y takes kChunk of them and leaves its sum in
// `partial`, AddChunks adds those in their order.
constexpr std::int64_t kChunk = 512;

__global__ void sum_chunks(std::int64_t rows, std::int64_t count, std::int64_t width, const Real* x,
                           const Real* dy, Real* partial) {
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x;
  const std::int64_t h = count * width, columns = h + count, begin = blockIdx.y * kChunk;
  const std::int64_t k = c < h ? c / width : c - h;
  Real sum = 0;
  for (std::int64_t r = begin + threadIdx.y; r < begin + kChunk && r < rows; r += kRowsAtOnce) {
    if (c < h) sum += dy[r * count + k] * x[r * h + c];
    if (c >= h && c < columns) sum += dy[r * count + k];
  }
  sum = column_sum(sum);
  if (threadIdx.y == 0 && c < columns) partial[blockIdx.y * columns + c] = sum;
}

struct AddChunks {
  std::int64_t chunks, columns;
  const Real* partial;
  Real* to;

  RENAR_HOST_DEVICE void operator()(std::int64_t c) const {
    Real sum = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk * columns + c];
    to[c] += sum;
  }
};

void dots_on_device(Device device, const Dots& s) {
  for (std::int64_t k = 0; k < s.count; ++k) {
    const Head& head = s.heads[static_cast<std::size_t>(k)];
    const std::size_t bytes = static_cast<std::size_t>(s.width) * sizeof(Real);
    copy_on_device(device, s.w + k * s.width, head.w.data, bytes);
    copy_on_device(device, s.b + k, head.b.data, sizeof(Real));
  }
  launch(one_warp_each(s.y.size()), dot_heads, s.y.size(), s.count, s.width, s.x.data, s.w, s.b,
         s.y.data);
}

void pass_dots_on_device(Device device, const Dots& s) {
  if (s.x.has_grad()) {
    for_each(device, s.x.size(), PassToRows{s.h(), s.width, s.y.grad, s.w, s.x.grad});
  }
  const std::int64_t chunks = blocks_for(s.rows, kChunk), columns = s.h() + s.count;
  launch(column_blocks({blocks_for(columns, kWarp), chunks}), sum_chunks, s.rows, s.count, s.width,
         s.x.data, s.y.grad, s.partial);
  for (std::int64_t k = 0; k < s.count; ++k) {
    const Head& head = s.heads[static_cast<std::size_t>(k)];
    const Real *w = s.partial + k * s.width, *b = s.partial + s.h() + k;
    if (head.w.has_grad()) for_each(device, s.width, AddChunks{chunks, columns, w, head.w.grad});
    if (head.b.has_grad()) for_each(device, 1, AddChunks{chunks, columns, b, head.b.grad});
  }
}

}  // namespace

Tensor head_dot(Tape& tape, Tensor x, std::span<const Head> heads) {
  const auto count = static_cast<std::int64_t>(heads.size());
  const std::int64_t rows = x.rows(), width = count == 0 ? 0 : x.cols() / count;
  bool wants_grad = x.has_grad();
  for (const Head& head : heads) {
    RENAR_CHECK(head.w.size() * count == x.cols() && head.b.size() == 1,
                "[head_dot] w {} and b {} of {} heads do not fit x {}", head.w.shape.text(),
                head.b.shape.text(), count, x.shape.text());
    wants_grad = wants_grad || head.w.has_grad() || head.b.has_grad();
  }
  RENAR_CHECK(count > 0, "[head_dot] no heads for x {}", x.shape.text());
  Shape shape = x.shape;
  shape.extent[static_cast<std::size_t>(shape.rank - 1)] = count;
  Tensor y = tape.output(shape, wants_grad);  // (..,K)
  const Device device = tape.device();
  const bool on_cpu = device == Device::kCpu;
  Dots s{rows, count, width, heads, x, y, nullptr, nullptr, nullptr};
  if (on_cpu) {
    dots_on_cpu(s);
  } else {
    s.w = tape.array<Real>(s.h());
    s.b = tape.array<Real>(count);
    if (y.has_grad()) s.partial = tape.array<Real>(blocks_for(rows, kChunk) * (s.h() + count));
    dots_on_device(device, s);
  }
  tape.record(y, [=] { on_cpu ? pass_dots_on_cpu(s) : pass_dots_on_device(device, s); });
  return y;
}

}  // namespace renar
