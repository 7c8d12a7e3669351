// How the kernels of products and learned_sums compute a tile of a product.
//
// A block computes a square tile of C = A B, a thread 4 x 4 of it or four times that. The block
// walks k in steps of a depth: the tiles of A and B that a step needs are brought to shared memory
// while the next two are already on their way to registers. A sum of several products is one walk
// through all of them.
// What multiplies there, the threads or tensor cores, is the Arithmetic (product_arithmetic.cuh).
//
// Three sizes of tile:
//   Broad   128 x 128, 16 deep, one team of 256 threads, each of which owns 8 x 8. Wide loads two
//           times four numbers for 16 multiply-adds, which takes shared memory longer than them;
//           Broad loads four times four for 64. Only where there are many tiles, as on the
//           edges of 64 nodes, or long sums to be cut into as many parts.
//   Wide    64 x 64, 32 deep, one team of 256 threads. At [8192,128] x [128,128], the messages of
//           32 samples of 16 nodes, that is 256 blocks, two for each of an H100's 132
//           multiprocessors.
//   Narrow  32 x 32, 64 deep. Four teams of 64 threads share the depth and add up at the end: with
//           few tiles a sum's length is what takes time, so four walk it, in half of the steps
//           (at [512,128] x [128,128] it waits for memory 2 times, Wide 4 times).
#pragma once

#include "kernels/product_arithmetic.cuh"

namespace renar {

template <int kSideOf, int kDepthOf, int kBlocksOf = 1>
struct Tiles {
  static constexpr int kSide = kSideOf, kDepth = kDepthOf;
  static constexpr int kPitch = kSide + 4;   // rows start 16-byte aligned and 4 banks apart
  static constexpr int kBlocks = kBlocksOf;  // of a thread, along each side
  static constexpr int kApart = kSide / kBlocks;
  static constexpr int kAcross = kApart / kOwn;
  static constexpr int kTeam = kAcross * kAcross;
  static constexpr int kTeams = kThreads / kTeam;
  static constexpr int kFetched =
      kSide * kDepth / kThreads;  // numbers of a tile that a thread brings
  static constexpr std::size_t kBytes = 2 * kDepth * kPitch * sizeof(Real);
  static_assert(kTeam * kTeams == kThreads && kFetched * kThreads == kSide * kDepth);
  static_assert((kTeams - 1) * kTeam * kOwn * kOwn <= 2 * kDepth * kPitch);  // teams add up there
  static_assert(kDepth % (kTeams * kRun) == 0 || kTeams == 1);
};
using Broad = Tiles<128, 16, 2>;
using Wide = Tiles<64, 32>;
using Narrow = Tiles<32, 64>;

/// Element (r, k) is data[r * row + k * col].
struct Matrix {
  const Real* data;
  std::int64_t row, col;
};

/// Brings a thread's share of one factor's tiles to shared memory. Neighbouring threads read along
/// the axis that is contiguous in memory; along k in runs of a sector, which then go to different
/// banks.
template <class T, class Arithmetic, bool kAlongK>
struct Reader {
  using Word = typename Arithmetic::Word;
  static constexpr int kLines = kAlongK ? kThreads / kRun : T::kSide;  // rows that threads start in
  static constexpr int kGroups = T::kSide / kLines;                    // of so many rows
  static constexpr int kDeep = kThreads / kLines;                      // of k that threads start in

  const Real* next = nullptr;  // the thread's first number of the next tile
  std::int64_t stride = 0;     // from row to row, or along the other axis from k to k
  int rows_left = 0;           // of the factor, from the tile's first

  __device__ static int row() {
    const int thread = static_cast<int>(threadIdx.x);
    return kAlongK ? thread / kRun : thread % kLines;
  }
  __device__ static int depth() {
    const int thread = static_cast<int>(threadIdx.x);
    return kAlongK ? thread % kRun : thread / kLines;
  }
  /// What number e of a thread is further than its first.
  __device__ static constexpr int rows_on(int e) { return e % kGroups * kLines; }
  __device__ static constexpr int depth_on(int e) { return e / kGroups * kDeep; }

  __device__ void start(const Matrix& of, std::int64_t from_row, std::int64_t rows,
                        std::int64_t from_k) {
    next = of.data + (from_row + row()) * of.row + (from_k + depth()) * of.col;
    stride = kAlongK ? of.row : of.col;
    rows_left = rows - from_row < T::kSide ? static_cast<int>(rows - from_row) : T::kSide;
  }

  /// Zero beyond the factor: it adds nothing.
  __device__ void fetch(std::int64_t k_left, Real (&to)[T::kFetched]) {
    const int deep = k_left < T::kDepth ? static_cast<int>(k_left) : T::kDepth;
    RENAR_UNROLL
    for (int e = 0; e < T::kFetched; ++e) {
      const bool inside = row() + rows_on(e) < rows_left && depth() + depth_on(e) < deep;
      const std::int64_t on =
          kAlongK ? rows_on(e) * stride + depth_on(e) : depth_on(e) * stride + rows_on(e);
      to[e] = inside ? next[on] : Real{0};
    }
    next += kAlongK ? T::kDepth : T::kDepth * stride;
  }

  /// tile (kDepth / kPerWord, kPitch). Where a word has two numbers they are kRun apart along k: a
  /// thread has fetched both, whichever factor it is.
  __device__ static void put(const Real (&from)[T::kFetched], Word* tile) {
    constexpr int kApart = kRun / kDeep * kGroups;
    RENAR_UNROLL
    for (int e = 0; e < T::kFetched; ++e) {
      const int runs = depth_on(e) / kRun;
      if (runs % Arithmetic::kPerWord != 0) continue;
      const int deep = depth() + depth_on(e) - (runs - runs / Arithmetic::kPerWord) * kRun;
      tile[deep * T::kPitch + row() + rows_on(e)] = Arithmetic::word(from + e, kApart);
    }
  }
};

/// Where a tile of C stands, and the thread in it.
template <class T, class Arithmetic>
struct Place {
  std::int64_t i0, j0;
  int team, row, col;

  __device__ Place(std::int64_t tile, std::int64_t columns) {
    const std::int64_t across = (columns + T::kSide - 1) / T::kSide;
    i0 = tile / across * T::kSide;
    j0 = tile % across * T::kSide;
    const int member = static_cast<int>(threadIdx.x) % T::kTeam;
    team = static_cast<int>(threadIdx.x) / T::kTeam;
    row = Arithmetic::template row<T>(member);
    col = Arithmetic::template col<T>(member);
  }

  /// f(i, j, its sums) for each of the thread's blocks, from element (i,j) on.
  template <class F>
  __device__ void for_each_block(SumsOf<T>& sums, const F& f) const {
    RENAR_UNROLL
    for (int e = 0; e < T::kBlocks * T::kBlocks; ++e) {
      const int u = e / T::kBlocks, v = e % T::kBlocks;
      f(i0 + row + u * T::kApart, j0 + col + v * T::kApart, sums[u][v]);
    }
  }
};

/// One product of a sum, C += A B from from_k to to_k; B is given turned, (N,K).
struct Segment {
  Matrix a, b;
  std::int64_t from_k, to_k;
};

// The first team gets what all have, in their order.
template <class T>
__device__ void add_teams(int team, SumsOf<T>& all_sums) {
  if constexpr (T::kTeams > 1) {
    static_assert(T::kBlocks == 1);
    Sums& sums = all_sums[0][0];
    Real* others = shared_memory<Real>();  // (kTeams - 1, kOwn kOwn, kTeam)
    const int member = static_cast<int>(threadIdx.x) % T::kTeam;
    for (int e = 0; e < kOwn * kOwn && team > 0; ++e) {
      others[((team - 1) * kOwn * kOwn + e) * T::kTeam + member] = sums[e / kOwn][e % kOwn];
    }
    __syncthreads();
    for (int other = 0; other < T::kTeams - 1 && team == 0; ++other) {
      for (int e = 0; e < kOwn * kOwn; ++e) {
        sums[e / kOwn][e % kOwn] += others[(other * kOwn * kOwn + e) * T::kTeam + member];
      }
    }
  }
}

// sums = the tile of all segments' sum, in the threads of the first team. `segments.next(segment)`
// gives one after the other, the same to all threads.
template <class T, class Arithmetic, bool kAAlongK, bool kBAlongK, class Segments>
__device__ void multiply_all(Segments segments, const Place<T, Arithmetic>& at, std::int64_t m,
                             std::int64_t n, SumsOf<T>& sums) {
  auto* a_tile = shared_memory<typename Arithmetic::Word>();
  auto* b_tile = a_tile + T::kDepth / Arithmetic::kPerWord * T::kPitch;
  Reader<T, Arithmetic, kAAlongK> a;
  Reader<T, Arithmetic, kBAlongK> b;
  Real next_a[T::kFetched], next_b[T::kFetched];
  std::int64_t k_left = 0;
  const auto fetch = [&] {
    if (k_left <= 0) {
      Segment segment;
      if (!segments.next(segment)) return false;
      a.start(segment.a, at.i0, m, segment.from_k);
      b.start(segment.b, at.j0, n, segment.from_k);
      k_left = segment.to_k - segment.from_k;
    }
    a.fetch(k_left, next_a);
    b.fetch(k_left, next_b);
    k_left -= T::kDepth;
    return true;
  };
  for (bool more = fetch(); more;) {
    a.put(next_a, a_tile);
    b.put(next_b, b_tile);
    __syncthreads();
    more = fetch();
    Arithmetic::template multiply<T>(a_tile, b_tile, at.row, at.col, at.team, sums);
    __syncthreads();
  }
  add_teams<T>(at.team, sums);
}

/// Whether four numbers from here on, of a row that goes on for `left`, are one load or store.
__device__ inline bool are_one(const Real* c, std::int64_t left) {
  return left >= kOwn && reinterpret_cast<std::uintptr_t>(c) % alignof(Four) == 0;
}
__device__ inline Four read_four(const Real* from, std::int64_t left) {
  if (are_one(from, left)) return *reinterpret_cast<const Four*>(from);
  Four values = {};
  RENAR_UNROLL
  for (int q = 0; q < kOwn; ++q) values.at[q] = q < left ? from[q] : Real{0};
  return values;
}
__device__ inline void write_four(const Four& values, Real* to, std::int64_t left) {
  if (are_one(to, left)) {
    *reinterpret_cast<Four*>(to) = values;
    return;
  }
  RENAR_UNROLL
  for (int q = 0; q < kOwn; ++q) {
    if (q < left) to[q] = values.at[q];
  }
}

// c [+]= a thread's block of a tile, from element (i,j) on; 0 where `relu_of`, if given, is not
// positive. All is read before anything is written, or each row would be waited for alone.
__device__ inline void put_tile(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n,
                                const Sums& sums, bool add, Real* c,
                                const Real* relu_of = nullptr) {
  unsigned stops = 0;  // a bit for each of the block's numbers
  RENAR_UNROLL
  for (int r = 0; r < kOwn && relu_of != nullptr; ++r) {
    if (i + r >= m) break;
    const Four y = read_four(relu_of + (i + r) * n + j, n - j);
    RENAR_UNROLL
    for (int q = 0; q < kOwn; ++q) stops |= y.at[q] > 0 ? 0u : 1u << (r * kOwn + q);
  }
  Four values[kOwn] = {};
  RENAR_UNROLL
  for (int r = 0; r < kOwn; ++r) {
    if (add && i + r < m) values[r] = read_four(c + (i + r) * n + j, n - j);
  }
  RENAR_UNROLL
  for (int r = 0; r < kOwn; ++r) {
    RENAR_UNROLL
    for (int q = 0; q < kOwn; ++q) {
      const bool stop = (stops >> (r * kOwn + q) & 1u) != 0;
      values[r].at[q] = stop ? Real{0} : values[r].at[q] + sums[r][q];
    }
    if (i + r < m) write_four(values[r], c + (i + r) * n + j, n - j);
  }
}

template <class T>
std::int64_t tiles_of(std::int64_t m, std::int64_t n) {
  return blocks_for(m, T::kSide) * blocks_for(n, T::kSide);
}

enum class Size { kNarrow, kWide, kBroad };
inline std::int64_t tiles_of(Size size, std::int64_t m, std::int64_t n) {
  switch (size) {
    case Size::kNarrow: return tiles_of<Narrow>(m, n);
    case Size::kWide: return tiles_of<Wide>(m, n);
    case Size::kBroad: return tiles_of<Broad>(m, n);
  }
  return 0;
}

/// Whether the small tiles are the better ones: the large ones would be too few for a GPU, or
/// mostly empty.
inline bool is_narrow(std::int64_t tiles_of_wide, std::int64_t columns) {
  return tiles_of_wide < 128 || columns <= Narrow::kSide;
}

/// Whether Broad tiles are no more empty along an axis than Wide ones.
inline bool fills_broad(std::int64_t size) {
  return blocks_for(size, Broad::kSide) * Broad::kSide ==
         blocks_for(size, Wide::kSide) * Wide::kSide;
}

template <class T>
Grid grid_of(std::int64_t tiles, std::int64_t parts = 1) {
  return {{tiles, parts}, {kThreads}, T::kBytes};
}

}  // namespace renar
