#include "kernels/log_sinkhorn.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/launch.h"

namespace renar {
namespace {

constexpr Real kTemperature = Real(0.1);
constexpr Real kOffDiagonal = Real(1e6);

/// The rows of a matrix, or its columns: where each begins and how far its numbers lie apart.
struct Lines {
  std::int64_t apart, step;
};
/// Of the matrix whose rows lie `row` apart: rows in the first half of a round, then columns.
RENAR_HOST_DEVICE Lines lines_of(int half, std::int64_t row) {
  return half % 2 == 0 ? Lines{row, 1} : Lines{1, row};
}

// Takes log sum exp of every line from it. The largest goes first and alone: small differences of
// large numbers keep their digits.
void normalise(std::int64_t n, Lines lines, Real* x) {
  for (std::int64_t l = 0; l < n; ++l) {
    Real* line = x + l * lines.apart;
    Real largest = line[0];
    for (std::int64_t k = 1; k < n; ++k) largest = std::max(largest, line[k * lines.step]);
    Real sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += std::exp(line[k * lines.step] - largest);
    const Real log_sum = std::log(sum);
    for (std::int64_t k = 0; k < n; ++k) {
      line[k * lines.step] = (line[k * lines.step] - largest) - log_sum;
    }
  }
}

// The gradient of normalise's result y becomes that of its argument.
void pass_back(std::int64_t n, Lines lines, const Real* y, Real* dy) {
  for (std::int64_t l = 0; l < n; ++l) {
    const Real* line = y + l * lines.apart;
    Real *dline = dy + l * lines.apart, sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += dline[k * lines.step];
    for (std::int64_t k = 0; k < n; ++k) {
      dline[k * lines.step] -= std::exp(line[k * lines.step]) * sum;
    }
  }
}

/// Element i of the matrix where the iteration starts.
RENAR_HOST_DEVICE Real scaled(std::int64_t n, std::int64_t i, const Real* logits,
                              const Real* noise) {
  const Real x = (noise == nullptr ? logits[i] : logits[i] + noise[i]) / kTemperature;
  return i % (n + 1) == 0 ? x - kOffDiagonal : x;
}

void scale(std::int64_t n, const Real* logits, const Real* noise, Real* x) {
  for (std::int64_t i = 0; i < n * n; ++i) x[i] = scaled(n, i, logits, noise);
}

// Turns x into y in place; kept, where it is not null, takes the result of every half round.
void iterate(std::int64_t n, int rounds, Real* x, Real* kept) {
  for (int half = 0; half < 2 * rounds; ++half) {
    normalise(n, lines_of(half, n), x);
    if (kept != nullptr) kept = std::copy_n(x, n * n, kept);
  }
}

struct Problem {
  std::int64_t batch, n;
  int rounds;
  Tensor logits, noise, y;
  Real* kept;  // (B, 2 rounds, N,N) or null; on a device a column's numbers lie side by side too

  std::int64_t each() const { return n * n; }
  std::int64_t kept_each() const { return 2 * rounds * each(); }
};

void forward_on_cpu(const Problem& p) {
  for (std::int64_t b = 0; b < p.batch; ++b) {
    Real* x = p.y.data + b * p.each();
    scale(p.n, p.logits.data + b * p.each(), p.noise ? p.noise.data + b * p.each() : nullptr, x);
    iterate(p.n, p.rounds, x, p.kept == nullptr ? nullptr : p.kept + b * p.kept_each());
  }
}

void backward_on_cpu(const Problem& p) {
  const std::int64_t each = p.each();
  for (std::int64_t b = 0; b < p.batch; ++b) {
    Real* dx = p.y.grad + b * each;  // nobody reads it later
    for (int half = 2 * p.rounds; half-- > 0;) {
      pass_back(p.n, lines_of(half, p.n), p.kept + b * p.kept_each() + half * each, dx);
    }
    for (std::int64_t i = 0; i < each; ++i) p.logits.grad[b * each + i] += dx[i] / kTemperature;
  }
}

// On a device a block takes a matrix through all rounds, a warp a line of it, with a barrier
// between the halves of a round. The matrix lies in shared memory, its rows an odd number of words
// apart so that lanes that read a column meet in no bank; one that does not fit (over 110 nodes in
// float) stays in the result's memory, which the caches hold. 16 warps: a line each at the 16
// nodes of training, four at 64, and 128 registers a thread, more than the kernels need.
constexpr std::int64_t kMostWarps = 16;
constexpr Real kLowest = std::numeric_limits<Real>::lowest();

enum class Room { kShared, kGlobal };

struct Matrix {
  Real* x;
  std::int64_t n, row;

  __device__ Real& at(std::int64_t i) const { return x[i / n * row + i % n]; }
};

__device__ Matrix matrix_in(Room room, std::int64_t n, Real* global) {
  return room == Room::kShared ? Matrix{shared_memory<Real>(), n, n | 1} : Matrix{global, n, n};
}

// normalise of a line. `kept` may be null.
__device__ void normalise_line(std::int64_t n, std::int64_t step, Real* line, Real* kept) {
  Real largest = kLowest, sum = 0;
  for (std::int64_t k = lane_index(); k < n; k += kWarp) {
    largest = line[k * step] > largest ? line[k * step] : largest;
  }
  largest = warp_max(largest);
  for (std::int64_t k = lane_index(); k < n; k += kWarp) sum += std::exp(line[k * step] - largest);
  const Real log_sum = std::log(warp_sum(sum));
  for (std::int64_t k = lane_index(); k < n; k += kWarp) {
    const Real y = (line[k * step] - largest) - log_sum;
    line[k * step] = y;
    if (kept != nullptr) kept[k] = y;
  }
}

__global__ void iterate_matrices(std::int64_t n, int rounds, Room room, const Real* logits,
                                 const Real* noise, Real* y, Real* kept) {
  const std::int64_t each = n * n, first = blockIdx.x * each;
  const std::int64_t warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const Matrix m = matrix_in(room, n, y + first);
  for (std::int64_t i = threadIdx.x; i < each; i += blockDim.x) {
    m.at(i) = scaled(n, i, logits + first, noise == nullptr ? nullptr : noise + first);
  }
  for (int half = 0; half < 2 * rounds; ++half) {
    const Lines lines = lines_of(half, m.row);
    Real* to = kept == nullptr ? nullptr : kept + first * 2 * rounds + half * each;
    __syncthreads();
    for (std::int64_t l = warp; l < n; l += warps) {
      normalise_line(n, lines.step, m.x + l * lines.apart, to == nullptr ? nullptr : to + l * n);
    }
  }
  if (room == Room::kGlobal) return;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < each; i += blockDim.x) y[first + i] = m.at(i);
}

// pass_back of a line, whose result lies side by side.
__device__ void pass_line_back(std::int64_t n, std::int64_t step, const Real* y, Real* dline) {
  Real sum = 0;
  for (std::int64_t k = lane_index(); k < n; k += kWarp) sum += dline[k * step];
  sum = warp_sum(sum);
  for (std::int64_t k = lane_index(); k < n; k += kWarp) dline[k * step] -= std::exp(y[k]) * sum;
}

__global__ void pass_matrices_back(std::int64_t n, int rounds, Room room, const Real* kept,
                                   Real* dy, Real* dlogits) {
  const std::int64_t each = n * n, first = blockIdx.x * each;
  const std::int64_t warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
  const Matrix m = matrix_in(room, n, dy + first);
  if (room == Room::kShared) {
    for (std::int64_t i = threadIdx.x; i < each; i += blockDim.x) m.at(i) = dy[first + i];
  }
  for (int half = 2 * rounds; half-- > 0;) {
    const Lines lines = lines_of(half, m.row);
    const Real* results = kept + first * 2 * rounds + half * each;
    __syncthreads();
    for (std::int64_t l = warp; l < n; l += warps) {
      pass_line_back(n, lines.step, results + l * n, m.x + l * lines.apart);
    }
  }
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < each; i += blockDim.x) {
    dlogits[first + i] += m.at(i) / kTemperature;
  }
}

Grid grid_of(const Problem& p) {
  const auto shared = static_cast<std::size_t>(p.n * (p.n | 1)) * sizeof(Real);
  return {{p.batch}, {std::min(p.n, kMostWarps) * kWarp}, shared <= kMostShared ? shared : 0};
}
Room room_of(const Grid& grid) { return grid.shared_bytes > 0 ? Room::kShared : Room::kGlobal; }

void forward_on_device(const Problem& p) {
  const Grid grid = grid_of(p);
  const Touched touched = Touched()
                              .reads(p.logits.data, p.y.size())
                              .reads(p.noise.data, p.y.size())
                              .writes(p.y.data, p.y.size())
                              .writes(p.kept, p.batch * p.kept_each());
  launch_later("iterate_matrices", touched, [p, grid] {
    launch_collected(grid, iterate_matrices, p.n, p.rounds, room_of(grid), p.logits.data,
                     p.noise.data, p.y.data, p.kept);
  });
}

void backward_on_device(const Problem& p) {
  const Grid grid = grid_of(p);
  const Touched touched = Touched()
                              .reads(p.kept, p.batch * p.kept_each())
                              .writes(p.y.grad, p.y.size())
                              .writes(p.logits.grad, p.y.size());
  launch_later("pass_matrices_back", touched, [p, grid] {
    launch_collected(grid, pass_matrices_back, p.n, p.rounds, room_of(grid), p.kept, p.y.grad,
                     p.logits.grad);
  });
}

}  // namespace

Tensor log_sinkhorn(Tape& tape, Tensor logits, int rounds, Tensor noise) {
  RENAR_CHECK(logits.shape.rank == 3 && logits.dim(1) == logits.dim(2) && rounds >= 0,
              "[log_sinkhorn] logits {} in {} rounds: expected (B,N,N) and at least 0",
              logits.shape.text(), rounds);
  RENAR_CHECK(!noise || noise.shape == logits.shape,
              "[log_sinkhorn] noise {} does not fit logits {}", noise.shape.text(),
              logits.shape.text());
  Problem p{logits.dim(0), logits.dim(1), rounds, logits, noise, {}, nullptr};
  p.y = tape.output(logits.shape, {logits});
  if (p.y.has_grad() && rounds > 0) p.kept = tape.array<Real>(p.batch * p.kept_each());
  const bool on_cpu = tape.device() == Device::kCpu;
  on_cpu ? forward_on_cpu(p) : forward_on_device(p);
  tape.record(p.y, [=] { on_cpu ? backward_on_cpu(p) : backward_on_device(p); });
  return p.y;
}

void log_sinkhorn_of(std::int64_t n, int rounds, const Real* logits, Real* y) {
  scale(n, logits, nullptr, y);
  iterate(n, rounds, y, nullptr);
}

}  // namespace renar
