// gemm through Highway, compiled for AVX2, AVX-512 and one number at a time, and dispatched at run
// time.
//
// The micro-kernel holds an MR x NR tile of C in registers (NR = two vectors) and walks k once: per
// k it loads two vectors of B and broadcasts MR numbers of A. A is read in place, since its rows
// are reused from L1. B is packed into panels [k][NR], so that those loads are contiguous whatever
// B's strides, unless it is row-major already and passed over so few times that the copy would cost
// more than it saves.
//   MR = 6 on AVX2 (12 sums + 2 of B + 1 of A of 16 registers), 12 on AVX-512 (24 + 2 + 1 of 32).
//   kBlock: a panel of 256 x 32 floats is 32 KiB and stays in L1/L2 while all rows of A pass over
//       it.
#include "kernels/gemm.h"

#include <algorithm>
#include <vector>

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace renar {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<Real>;
using V = hn::Vec<D>;
#if HWY_TARGET <= HWY_AVX3
constexpr int kRows = 12;
#elif HWY_TARGET <= HWY_AVX2
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
constexpr std::int64_t kBlock = 256;
constexpr std::int64_t kPasses = 3;  // row tiles below which B is read in place

struct Tile {
  std::int64_t k;  // length of the sums
  Factor a;        // first of the tile's rows
  const Real* b;   // NR columns of B, or a panel of them
  std::int64_t b_row;
  Real* c;
  std::int64_t c_row;
  std::int64_t cols;  // columns of C in this tile, at most NR
  bool accumulate;
  const Real* bias;  // of this tile's columns; null on all but the last block of k
  bool relu;
};

// p[0 .. count), zero beyond. Below AVX2 a masked load reads past the edge before it masks.
HWY_INLINE V load_first(D d, const Real* p, std::int64_t count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(count, 0))),
                        d, p);
#else
  if (count >= static_cast<std::int64_t>(hn::Lanes(d))) return hn::LoadU(d, p);
  HWY_ALIGN Real first[HWY_MAX_BYTES / sizeof(Real)] = {};
  if (count > 0) std::copy_n(p, count, first);
  return hn::Load(d, first);
#endif
}

// c[.., 0 .. N) = the sums of one row, or the first `cols` of them at the right edge of C.
HWY_INLINE void finish_row(D d, V s0, V s1, const Tile& t, Real* c) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto left = hn::FirstN(d, static_cast<std::size_t>(std::min(t.cols, lanes)));
  const auto right =
      hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(t.cols - lanes, 0)));
  if (t.bias != nullptr) {
    s0 = hn::Add(s0, load_first(d, t.bias, t.cols));
    s1 = hn::Add(s1, load_first(d, t.bias + lanes, t.cols - lanes));
  }
  if (t.relu) {
    s0 = hn::Max(s0, hn::Zero(d));
    s1 = hn::Max(s1, hn::Zero(d));
  }
  if (t.cols == 2 * lanes) {
    hn::StoreU(s0, d, c);
    hn::StoreU(s1, d, c + lanes);
  } else {
    hn::BlendedStore(s0, left, d, c);
    hn::BlendedStore(s1, right, d, c + lanes);
  }
}

template <int kTileRows>
HWY_INLINE void tile(const Tile& t) {
  const D d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V s0[kTileRows], s1[kTileRows];
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) {
    const Real* c = t.c + r * t.c_row;
    s0[r] = t.accumulate ? load_first(d, c, t.cols) : hn::Zero(d);
    s1[r] = t.accumulate ? load_first(d, c + lanes, t.cols - lanes) : hn::Zero(d);
  }
  const Real* b = t.b;
  const Real* a = t.a.data;
  for (std::int64_t k = 0; k < t.k; ++k) {
    const V b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes);
#pragma GCC unroll 12
    for (int r = 0; r < kTileRows; ++r) {
      const V x = hn::Set(d, a[r * t.a.row]);
      s0[r] = hn::MulAdd(x, b0, s0[r]);
      s1[r] = hn::MulAdd(x, b1, s1[r]);
    }
    b += t.b_row;
    a += t.a.col;
  }
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) finish_row(d, s0[r], s1[r], t, t.c + r * t.c_row);
}

// The last, incomplete tile: as many rows as are left.
template <int kTileRows>
void tile_of(std::int64_t rows, const Tile& t) {
  if (rows == kTileRows) {
    tile<kTileRows>(t);
  } else if constexpr (kTileRows > 1) {
    tile_of<kTileRows - 1>(rows, t);
  }
}

#if HWY_TARGET == HWY_SCALAR
constexpr bool kTurnsBlocks = false;
HWY_INLINE void transpose_4x4(const Real*, std::int64_t, Real*, std::int64_t) {}
#else
constexpr bool kTurnsBlocks = sizeof(Real) == 4;
// 4 x 4 numbers of a column-major factor, turned in registers.
HWY_INLINE void transpose_4x4(const Real* from, std::int64_t from_col, Real* to,
                              std::int64_t to_row) {
  const hn::CappedTag<Real, 4> d;  // double never comes here
  const auto c0 = hn::LoadU(d, from), c1 = hn::LoadU(d, from + from_col);
  const auto c2 = hn::LoadU(d, from + 2 * from_col), c3 = hn::LoadU(d, from + 3 * from_col);
  const auto c02_low = hn::InterleaveLower(d, c0, c2), c02_high = hn::InterleaveUpper(d, c0, c2);
  const auto c13_low = hn::InterleaveLower(d, c1, c3), c13_high = hn::InterleaveUpper(d, c1, c3);
  hn::StoreU(hn::InterleaveLower(d, c02_low, c13_low), d, to);
  hn::StoreU(hn::InterleaveUpper(d, c02_low, c13_low), d, to + to_row);
  hn::StoreU(hn::InterleaveLower(d, c02_high, c13_high), d, to + 2 * to_row);
  hn::StoreU(hn::InterleaveUpper(d, c02_high, c13_high), d, to + 3 * to_row);
}
#endif

// panel[k][j] = b(k, j), zero beyond the right edge.
void pack(std::int64_t k, std::int64_t cols, std::int64_t width, Factor b, Real* panel) {
  if (b.col == 1) {
    for (std::int64_t l = 0; l < k; ++l, panel += width) {
      std::copy_n(b.data + l * b.row, cols, panel);
      std::fill(panel + cols, panel + width, Real{0});
    }
    return;
  }
  std::int64_t turned_rows = 0, turned_cols = 0;
  if (kTurnsBlocks && b.row == 1) {
    turned_rows = k / 4 * 4;
    turned_cols = cols / 4 * 4;
    for (std::int64_t j = 0; j < turned_cols; j += 4) {
      for (std::int64_t l = 0; l < turned_rows; l += 4) {
        transpose_4x4(b.data + l + j * b.col, b.col, panel + l * width + j, width);
      }
    }
  }
  for (std::int64_t l = 0; l < k; ++l) {
    for (std::int64_t j = l < turned_rows ? turned_cols : 0; j < width; ++j) {
      panel[l * width + j] = j < cols ? b.data[l * b.row + j * b.col] : Real{0};
    }
  }
}

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b, Real* c,
          const GemmOptions& options) {
  const std::int64_t width = 2 * static_cast<std::int64_t>(hn::Lanes(D()));
  HWY_ALIGN static thread_local Real panel[kBlock * 2 * HWY_MAX_BYTES / sizeof(Real)];
  for (std::int64_t k0 = 0; k0 == 0 || k0 < k; k0 += kBlock) {
    const std::int64_t depth = std::min(kBlock, k - k0);
    const bool last = k0 + kBlock >= k;
    for (std::int64_t j = 0; j < n; j += width) {
      const std::int64_t cols = std::min(width, n - j);
      const Factor block{b.data + k0 * b.row + j * b.col, b.row, b.col};
      const bool in_place = b.col == 1 && cols == width && m <= kPasses * kRows;
      if (!in_place) pack(depth, cols, width, block, panel);
      Tile t{depth,
             {a.data + k0 * a.col, a.row, a.col},
             in_place ? block.data : panel,
             in_place ? b.row : width,
             c + j,
             n,
             cols,
             options.accumulate || k0 > 0,
             last && options.bias ? options.bias + j : nullptr,
             last && options.relu};
      std::int64_t i = 0;
      for (; i + kRows <= m; i += kRows) {
        tile<kRows>(t);
        t.a.data += kRows * a.row;
        t.c += kRows * n;
      }
      if constexpr (kRows > 1) tile_of<kRows - 1>(m - i, t);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace renar
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace renar {

HWY_EXPORT(gemm);

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b, Real* c,
          const GemmOptions& options) {
  add_flops(2 * m * n * k);
  HWY_DYNAMIC_DISPATCH(gemm)(m, n, k, a, b, c, options);
}

}  // namespace renar
#endif
