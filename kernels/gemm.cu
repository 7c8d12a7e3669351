#include "kernels/gemm.h"

#include <atomic>

#include "core/launch.h"

namespace renar {
namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> flops{0};

// The kernel changes the order in which elements are visited, and may cut a long sum into parts.
//
// A block computes a tile of C, 64 x 64, a thread 4 x 4 of it. The block walks k in steps of 16:
// the tiles of A and B that a step needs are brought to shared memory, where 16 threads read every
// number, while the next two are already on their way to registers. Per k a thread loads two times
// four numbers, each in one instruction, for 16 multiply-adds.
//   64: at [8192,128] x [128,128], the messages of 32 samples of 16 nodes, that is 256 blocks, two
//       for each of the 132 multiprocessors of an H100; 128 would leave half of them idle.
//   16: that many floats are 64 bytes, two whole sectors, where a factor is contiguous along k.
//
// What an H100 (67 TFLOP/s in float, 3.35 TB/s) can reach there, computed and not measured: 268
// million operations in 4.0 us and 8.5 MB of memory traffic in 2.5 us, less where L2 (50 MB) still
// holds X. Arithmetic is the bound. A warp's 16 multiply-adds take 4 cycles of a multiprocessor and
// its two shared loads 3 at the same time; the busiest multiprocessors have two blocks, 4.7 us;
// filling and emptying the pipe comes on top: expect 6 to 8 us. X^T dY, [128,8192] x [8192,128],
// has the same bound; its 32 parts of 64 KB are written and read once more.
constexpr int kTile = 64;          // rows and columns of C in a block
constexpr int kDepth = 16;         // of k in shared memory at a time
constexpr int kOwn = 4;            // rows and columns of C in a thread
constexpr int kPitch = kTile + 4;  // rows of a tile start 16-byte aligned and on different banks
constexpr int kAcross = kTile / kOwn;
constexpr int kFetched = kTile * kDepth / kThreads;  // numbers of a tile that a thread brings
static_assert(kAcross * kAcross == kThreads && kThreads % kTile == 0 && kThreads % kDepth == 0);

// Parts of a long sum: enough for each multiprocessor of an H100 to have a block, none shorter than
// pays for writing its partial tile. Constants, so that every GPU gives the same bits.
constexpr std::int64_t kBlocksWanted = 132;
constexpr std::int64_t kLeastDepth = 128;

struct alignas(16) Four {  // loaded and stored as one
  Real at[kOwn];
};

struct Product {
  std::int64_t m, n, k;
  Factor a, b;        // (M,K), and B turned: (N,K)
  Real* c;            // part p goes to c + p m n
  std::int64_t part;  // length of a part of k
  GemmOptions options;
};

/// Brings a thread's share of one factor's tiles to shared memory. Neighbouring threads read along
/// the axis that is contiguous in memory.
struct Reader {
  const Real* next;           // the first number of the next tile
  std::int64_t apart, ahead;  // from a number to the next one, and to its place in the next tile
  std::int64_t rows_left;     // of the factor, from the tile's first
  int row, depth;             // of the first number in the tile, and the way to the next one
  int row_step, depth_step;

  __device__ Reader(const Factor& f, std::int64_t from_row, std::int64_t rows, std::int64_t from_k,
                    int thread)
      : rows_left(rows - from_row) {
    const bool along_k = f.col == 1;
    row = along_k ? thread / kDepth : thread % kTile;
    depth = along_k ? thread % kDepth : thread / kTile;
    row_step = along_k ? kThreads / kDepth : 0;
    depth_step = along_k ? 0 : kThreads / kTile;
    next = f.data + (from_row + row) * f.row + (from_k + depth) * f.col;
    apart = row_step * f.row + depth_step * f.col;
    ahead = kDepth * f.col;
  }

  /// Zero beyond the factor: it adds nothing.
  __device__ void fetch(std::int64_t k_left, Real (&to)[kFetched]) {
    for (int e = 0; e < kFetched; ++e) {
      const bool inside = row + e * row_step < rows_left && depth + e * depth_step < k_left;
      to[e] = inside ? next[e * apart] : Real{0};
    }
    next += ahead;
  }

  /// tile (kDepth, kPitch)
  __device__ void put(const Real (&from)[kFetched], Real* tile) const {
    for (int e = 0; e < kFetched; ++e) {
      tile[(depth + e * depth_step) * kPitch + row + e * row_step] = from[e];
    }
  }
};

__device__ void multiply(const Real* a_tile, const Real* b_tile, Real (&sums)[kOwn][kOwn]) {
  for (int l = 0; l < kDepth; ++l) {
    const Four a = *reinterpret_cast<const Four*>(a_tile + l * kPitch);
    const Four b = *reinterpret_cast<const Four*>(b_tile + l * kPitch);
    for (int r = 0; r < kOwn; ++r) {
      for (int q = 0; q < kOwn; ++q) sums[r][q] += a.at[r] * b.at[q];
    }
  }
}

RENAR_HOST_DEVICE Real finished(const GemmOptions& options, std::int64_t column, Real sum) {
  if (options.bias != nullptr) sum += options.bias[column];
  return options.relu && !(sum > 0) ? Real{0} : sum;
}

// Four neighbours of one row of C, from column j on; in one store where they lie so.
__device__ void finish_row(const GemmOptions& options, std::int64_t j, std::int64_t n,
                           const Real (&sums)[kOwn], Real* c) {
  if (j + kOwn <= n && reinterpret_cast<std::uintptr_t>(c) % alignof(Four) == 0) {
    Four* there = reinterpret_cast<Four*>(c);
    Four values = options.accumulate ? *there : Four{};
    for (int q = 0; q < kOwn; ++q) values.at[q] = finished(options, j + q, values.at[q] + sums[q]);
    *there = values;
    return;
  }
  for (int q = 0; q < kOwn && j + q < n; ++q) {
    c[q] = finished(options, j + q, (options.accumulate ? c[q] : Real{0}) + sums[q]);
  }
}

// Block x: a tile of C, those of the same rows beside each other, as they share A; y: a part of k.
__global__ void multiply_tiles(Product p) {
  Real* a_tile = shared_memory<Real>();
  Real* b_tile = a_tile + kDepth * kPitch;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t tiles_across = (p.n + kTile - 1) / kTile;
  const std::int64_t i0 = blockIdx.x / tiles_across * kTile, j0 = blockIdx.x % tiles_across * kTile;
  const std::int64_t from = blockIdx.y * p.part;
  const std::int64_t to = from + p.part < p.k ? from + p.part : p.k;
  const int row = thread / kAcross * kOwn, col = thread % kAcross * kOwn;

  Reader a(p.a, i0, p.m, from, thread), b(p.b, j0, p.n, from, thread);
  Real next_a[kFetched], next_b[kFetched], sums[kOwn][kOwn] = {};
  a.fetch(to - from, next_a);
  b.fetch(to - from, next_b);
  for (std::int64_t l = from; l < to; l += kDepth) {
    a.put(next_a, a_tile);
    b.put(next_b, b_tile);
    __syncthreads();
    a.fetch(to - l - kDepth, next_a);
    b.fetch(to - l - kDepth, next_b);
    multiply(a_tile + row, b_tile + col, sums);
    __syncthreads();
  }
  Real* c = p.c + blockIdx.y * p.m * p.n + (i0 + row) * p.n + j0 + col;
  for (int r = 0; r < kOwn && i0 + row + r < p.m; ++r, c += p.n) {
    finish_row(p.options, j0 + col, p.n, sums[r], c);
  }
}

// The parts of each element, first to last.
struct AddParts {
  std::int64_t size, n, parts;
  const Real* from;
  Real* c;
  GemmOptions options;

  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    Real sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) sum += from[part * size + i];
    c[i] = finished(options, i % n, (options.accumulate ? c[i] : Real{0}) + sum);
  }
};

std::int64_t tiles_of(std::int64_t m, std::int64_t n) {
  return blocks_for(m, kTile) * blocks_for(n, kTile);
}

// A multiple of kDepth.
std::int64_t length_of_part(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t tiles = tiles_of(m, n);
  const std::int64_t wanted = tiles == 0 ? 1 : blocks_for(kBlocksWanted, tiles);
  const std::int64_t length = blocks_for(k, wanted);
  return blocks_for(length > kLeastDepth ? length : kLeastDepth, kDepth) * kDepth;
}

}  // namespace

std::int64_t gemm_scratch(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t parts = blocks_for(k, length_of_part(m, n, k));
  return parts > 1 ? parts * m * n : 0;
}

void gemm(Device device, std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b,
          Real* c, const GemmOptions& options) {
  if (device == Device::kCpu) return gemm(m, n, k, a, b, c, options);
  add_flops(2 * m * n * k);
  const bool cut = options.scratch != nullptr && gemm_scratch(m, n, k) > 0;
  const std::int64_t part = cut ? length_of_part(m, n, k) : k;
  const std::int64_t parts = cut ? blocks_for(k, part) : 1;
  const Product product{m,
                        n,
                        k,
                        a,
                        {b.data, b.col, b.row},
                        cut ? options.scratch : c,
                        part,
                        cut ? GemmOptions{} : options};
  launch({{tiles_of(m, n), parts}, {kThreads}, 2 * kDepth * kPitch * sizeof(Real)}, multiply_tiles,
         product);
  if (cut) for_each(device, m * n, AddParts{m * n, n, parts, options.scratch, c, options});
}

void count_flops(bool on) {
  flops = 0;
  counting = on;
}

void add_flops(std::int64_t count) {
  if (counting.load(std::memory_order_relaxed)) flops.fetch_add(count, std::memory_order_relaxed);
}

std::int64_t counted_flops() { return flops; }

void gemm_definition(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b, Real* c,
                     const GemmOptions& options) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Real sum = options.accumulate ? c[i * n + j] : Real{0};
      for (std::int64_t l = 0; l < k; ++l) {
        sum += a.data[i * a.row + l * a.col] * b.data[l * b.row + j * b.col];
      }
      if (options.bias != nullptr) sum += options.bias[j];
      if (options.relu && !(sum > 0)) sum = 0;
      c[i * n + j] = sum;
    }
  }
}

}  // namespace renar
