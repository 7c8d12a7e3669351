// gemm through Highway, compiled for AVX2, AVX-512 and one number at a time, and dispatched at run
// time.
//
// The micro-kernel holds a tile of C in registers, some rows by 4, 2 or 1 vectors. It walks k once:
// per k it loads the vectors of B and broadcasts the rows' numbers of A. A is read in place, since
// its rows are reused from L1. B comes in panels [k][columns], so that those loads are contiguous
// whatever its strides: weights were cut into panels before (core/packed_weights.h), other factors
// are here, unless they are row-major already and passed over so few times that the copy would cost
// more than it saves.
//   AVX-512: 6 rows x 4 vectors (24 sums + 4 of B + 1 of A of 32 registers), so that A, which comes
//       from L2, is read twice for 128 columns; 12 x 2 is as fast in L1, but reads it four times.
//       12 x 2 for few rows (kFewRows: layers on nodes), which need their B, from L3, only twice.
//   AVX2: 6 rows x 2 vectors (12 + 2 + 1 of 16 registers).
//   kBlock: a panel of 256 x 64 floats is 64 KiB, one of a weight half of it, and stays in L1/L2
//       while the rows of A pass over it.
//   kRowBlock: 256 rows of A, of 128 numbers as a rule, are 128 KiB and stay in L2 while they meet
//       one panel after the other.
//   kAhead: rows of a panel that are fetched ahead where few rows pass over it.
//   kFetches: times in a tile at which what comes next is fetched. On AVX2, whose tiles take half
//       as long, each end of the inner loop costs more than a pause.
//
// GFLOP/s on one thread, all in one run, factors warm (Xeon with AVX-512 in a virtual machine, at
// most 172 to 179 in registers; OpenBLAS 0.3.21 with OPENBLAS_CORETYPE=SkylakeX, as it does not
// know this processor and takes a kernel of 30; oneDNN 2.6.3; ours as it stands, and with panels):
//                                            OpenBLAS  oneDNN  ours  panels
//   x W       [256,128]x[128,128]                 131     160   162     168
//   dy W^T    [256,128]x[128,128]                 129     161   155     167
//   x^T dy    [128,256]x[256,128]                 131     160   152
//   x W       [4096,128]x[128,128], n = 64        136     155   157     163
//   x W       [512,384]x[384,128]                 146     171   160     171
//   x W       [16,128]x[128,128], nodes           108     146   130     151
//   x^T dy    [128,16]x[16,128], nodes            138     122   118
//   S (V W)   [256,5]x[5,128]                      69      55    62
//   x W       [16,128]x[128,8]                     67      36    24      56
// No library has ends, terms, bias and relu in the epilogue, which save four passes over an edge
// layer's result, nor equal bits for equal rows; at the shapes that count they are no faster.
#include "kernels/gemm.h"

#include <algorithm>
#include <vector>

#include "core/check.h"

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace renar {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<Real>;
using V = hn::Vec<D>;
#if HWY_TARGET <= HWY_AVX3
constexpr int kWidest = 4;     // vectors of a tile
constexpr int kTileSums = 24;  // registers of a tile
constexpr int kFetches = 4;
#elif HWY_TARGET <= HWY_AVX2
constexpr int kWidest = 2;
constexpr int kTileSums = 12;
constexpr int kFetches = 1;
#else
constexpr int kWidest = 2;
constexpr int kTileSums = 8;
constexpr int kFetches = 1;
#endif
template <int kVectors>
constexpr int kRows = kTileSums / std::max(2, kVectors);  // of a tile
constexpr std::int64_t kBlock = 256;
constexpr std::int64_t kRowBlock = 256;
constexpr std::int64_t kReadInPlace = 36;  // rows for which B is not copied
constexpr std::int64_t kFewRows = 24;
constexpr std::int64_t kAhead = 16;

/// One term of a tile's sums, or a part of it.
struct Piece {
  std::int64_t k;  // length of the sums
  Factor a;        // all its rows
  const Real* b;   // NR columns of B, or a panel of them
  std::int64_t b_row;
  std::int64_t b_pair;  // from two vectors of columns to the next two
};

struct Tile {
  const Piece* pieces;
  int count;
  std::int64_t row;  // of C, where the tile starts
  Real* c;
  std::int64_t c_row;
  std::int64_t cols;  // columns of C in this tile, at most NR
  std::int64_t col;   // of C, where the tile starts
  bool accumulate;
  const Ends* ends;  // of each row, where C starts as them; else null
  const Real* bias;  // of this tile's columns; null on all but the last pass
  bool relu;
  const Real* next;  // where the tile starts in what is read next, or null
};

// p[0 .. count), zero beyond. Below AVX2 a masked load reads past the edge before it masks.
HWY_INLINE V load_first(D d, const Real* p, std::int64_t count) {
  if (count >= static_cast<std::int64_t>(hn::Lanes(d))) return hn::LoadU(d, p);
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(std::max<std::int64_t>(count, 0))),
                        d, p);
#else
  HWY_ALIGN Real first[HWY_MAX_BYTES / sizeof(Real)] = {};
  if (count > 0) std::copy_n(p, count, first);
  return hn::Load(d, first);
#endif
}

// The numbers that the sums of a row start as: those of its ends, those of C, or zeros.
HWY_INLINE V start_of(D d, const Tile& t, int r, std::int64_t right, std::int64_t cols) {
  if (t.ends != nullptr) {
    const Ends& ends = t.ends[t.row + r];
    const std::int64_t col = t.col + right, count = cols - right;
    const V send = ends.send == nullptr ? hn::Zero(d) : load_first(d, ends.send + col, count);
    const V recv = ends.recv == nullptr ? hn::Zero(d) : load_first(d, ends.recv + col, count);
    return hn::Add(send, recv);
  }
  return t.accumulate ? load_first(d, t.c + r * t.c_row + right, cols - right) : hn::Zero(d);
}

// c[0 .. N) = the sums of half a row, or the first `cols` of them at the right edge of C.
HWY_INLINE void finish(D d, V s, const Real* bias, bool relu, std::int64_t cols, Real* c) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (bias != nullptr) s = hn::Add(s, load_first(d, bias, cols));
  if (relu) s = hn::Max(s, hn::Zero(d));
  if (cols >= lanes) {
    hn::StoreU(s, d, c);
  } else {
    hn::BlendedStore(s, hn::FirstN(d, static_cast<std::size_t>(cols)), d, c);
  }
}

// Of row r, to L1, the next tile of C: a layer that writes its result for the first time finds it
// out of all caches, and one with few products (k = 5, 8) would wait for nothing else. To L2, as
// much of what is read next as the tile has of C.
template <int kVectors>
HWY_INLINE void fetch_ahead(D d, const Tile& t, int rows, int r) {
  const Real* c = t.c + (rows + r) * t.c_row;
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; ++v) hwy::Prefetch(c + v * hn::Lanes(d));
  if (t.next == nullptr) return;
  const Real* next = t.next + r * t.c_row;
#pragma GCC unroll 4
  for (std::size_t v = 0; v < kVectors; ++v) __builtin_prefetch(next + v * hn::Lanes(d), 0, 2);
}

template <int kTileRows, int kVectors>
HWY_INLINE void tile(const Tile& t) {
  const D d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t cols = kVectors > 2 ? kVectors * lanes : t.cols;  // the widest are whole
  V sums[kTileRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[r][v] = start_of(d, t, r, v * lanes, cols);
  }
  for (int p = 0; p < t.count; ++p) {
    const Piece& piece = t.pieces[p];
    const std::int64_t a_row = piece.a.row;
    const Real* b = piece.b;
    const Real* a = piece.a.data + t.row * a_row;
    // What is fetched comes some rows at a time while the last piece is summed, unless that is
    // short: all at once it would hold up the numbers of A. C of few columns needs no help.
    const bool fetches = kVectors > 1 && p + 1 == t.count;
    const int parts = fetches && piece.k >= kFetches * kAhead ? kFetches : 1;
    std::int64_t k = 0;
    for (int part = 0; part < parts; ++part) {
      if constexpr (kVectors > 1) {
        const int end = fetches ? kTileRows * (part + 1) / parts : 0;
        for (int r = kTileRows * part / parts; r < end; ++r)
          fetch_ahead<kVectors>(d, t, kTileRows, r);
      }
      for (const std::int64_t end = piece.k * (part + 1) / parts; k < end; ++k) {
        if constexpr (kVectors == 2 && kVectors < kWidest) {
          hwy::Prefetch(b + kAhead * piece.b_row);
          hwy::Prefetch(b + kAhead * piece.b_row + lanes);
        }
        V columns[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          columns[v] = hn::LoadU(d, b + v / 2 * piece.b_pair + v % 2 * lanes);
        }
#pragma GCC unroll 12
        for (int r = 0; r < kTileRows; ++r) {
          const V x = hn::Set(d, a[r * a_row]);
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(x, columns[v], sums[r][v]);
        }
        b += piece.b_row;
        a += piece.a.col;
      }
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t right = v * lanes;
      const Real* bias = t.bias == nullptr ? nullptr : t.bias + right;
      finish(d, sums[r][v], bias, t.relu, cols - right, t.c + r * t.c_row + right);
    }
  }
}

// A tile of fewer rows.
template <int kTileRows, int kVectors>
void tile_of(std::int64_t rows, const Tile& t) {
  if (rows == kTileRows) {
    tile<kTileRows, kVectors>(t);
  } else if constexpr (kTileRows > 1) {
    tile_of<kTileRows - 1, kVectors>(rows, t);
  }
}

// Rows t.row .. end, in tiles of as equal heights as can be: one of few rows waits for its sums.
template <int kVectors>
HWY_INLINE void rows_until(std::int64_t end, Tile t) {
  constexpr int most = kRows<kVectors>;
  const std::int64_t tiles = (end - t.row + most - 1) / most;
  const std::int64_t fewest = (end - t.row) / tiles, higher = (end - t.row) % tiles;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t rows = tiles == 2 ? (i == 0 ? most : end - t.row) : fewest + (i < higher);
    if (rows == most) {
      tile<most, kVectors>(t);
    } else {
      tile_of<most - 1, kVectors>(rows, t);
    }
    t.row += rows;
    t.c += rows * t.c_row;
    if (t.next != nullptr) t.next += rows * t.c_row;
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

constexpr std::int64_t kPanelRoom = kBlock * kWidest * HWY_MAX_BYTES / sizeof(Real);
static_assert(kPanel * sizeof(Real) % (2 * HWY_MAX_BYTES) == 0, "panels hold whole tiles");

/// Some of the terms, such that what must be packed of them fits in kBlock rows.
struct Pass {
  Piece pieces[kMaxFactors];  // b is set for each block of columns
  Factor b[kMaxFactors];
  Panels panels[kMaxFactors];
  int count = 0;
};

/// Cuts a sum of terms into passes: whole terms, and parts of long ones.
struct Passes {
  const GemmTerm* terms;
  int count;
  int next = 0;
  std::int64_t done = 0;  // of the next one's k

  bool over() const { return next == count; }
  Pass take() {
    Pass pass;
    std::int64_t room = kBlock;
    while (!over()) {
      const GemmTerm& t = terms[next];
      const bool packed = t.panels.data != nullptr;
      const std::int64_t k = packed ? t.k : std::min(t.k - done, room);
      if (k == 0 && t.k > 0) break;
      pass.pieces[pass.count] = {k, {t.a.data + done * t.a.col, t.a.row, t.a.col}, nullptr, 0, 0};
      pass.b[pass.count] = {t.b.data + done * t.b.row, t.b.row, t.b.col};
      pass.panels[pass.count++] = t.panels;
      if (!packed) room -= k;
      done += k;
      if (done < t.k) break;
      ++next;
      done = 0;
    }
    return pass;
  }
};

// `cols` columns of all terms of a pass, from j on: panels that were made before, B itself, or a
// panel made now, `width` wide.
void set_columns(std::int64_t m, std::int64_t j, std::int64_t cols, std::int64_t width, Pass& pass,
                 Real* panel) {
  const std::int64_t pair = 2 * static_cast<std::int64_t>(hn::Lanes(D()));
  for (int p = 0; p < pass.count; ++p) {
    Piece& piece = pass.pieces[p];
    const Factor& b = pass.b[p];
    piece.b_pair = pair;
    if (const Panels& panels = pass.panels[p]; panels.data != nullptr) {
      piece.b = panels.data + j / kPanel * panels.apart + j % kPanel;
      piece.b_row = kPanel;
      if (pair == kPanel) piece.b_pair = panels.apart;
      continue;
    }
    const Factor block{b.data + j * b.col, b.row, b.col};
    if (b.col == 1 && cols == width && m <= kReadInPlace) {
      piece.b = block.data;
      piece.b_row = b.row;
      continue;
    }
    pack(piece.k, cols, width, block, panel);
    piece.b = panel;
    piece.b_row = width;
    panel += piece.k * width;
  }
}

void gemm(std::int64_t m, std::int64_t n, const GemmTerm* terms, int count, const Ends* ends,
          Real* c, const GemmOptions& options) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(D()));
  HWY_ALIGN static thread_local Real panel[kPanelRoom];
  Passes passes{terms, count};
  for (bool first = true; first || !passes.over(); first = false) {
    Pass pass = passes.take();
    const bool last = passes.over();
    for (std::int64_t row = 0; row < m; row += kRowBlock) {
      const std::int64_t end = std::min(m, row + kRowBlock);
      for (std::int64_t j = 0, cols = 0; j < n; j += cols) {
        const std::int64_t left = n - j;
        const bool wide = left >= kWidest * lanes && m > kFewRows;
        const int vectors = wide ? kWidest : left > lanes ? 2 : 1;
        cols = std::min(vectors * lanes, left);
        set_columns(m, j, cols, vectors * lanes, pass, panel);
        const Tile t{pass.pieces,
                     pass.count,
                     row,
                     c + row * n + j,
                     n,
                     cols,
                     j,
                     options.accumulate || !first,
                     first ? ends : nullptr,
                     last && options.bias ? options.bias + j : nullptr,
                     last && options.relu,
                     options.next == nullptr ? nullptr : options.next + row * n + j};
        if (vectors == 1) {
          rows_until<1>(end, t);
        } else if (vectors == 2) {
          rows_until<2>(end, t);
        } else {
          rows_until<kWidest>(end, t);
        }
      }
    }
  }
}

// One column, whose factors lie along k: kSums running sums, in the same order on
// every instruction set: the same bits wherever a multiply-add is one operation.
void column(std::int64_t m, const GemmTerm* terms, int count, Real* c, const GemmOptions& options) {
  constexpr std::int64_t kSums = 16;
  const D d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN Real sums[kSums];
  for (std::int64_t i = 0; i < m; ++i) {
    V parts[kSums];  // as many as hold kSums numbers
    for (std::int64_t v = 0; v * lanes < kSums; ++v) parts[v] = hn::Zero(d);
    Real rest = options.accumulate ? c[i] : Real{0};
    for (int t = 0; t < count; ++t) {
      const std::int64_t k = terms[t].k, whole = k / kSums * kSums;
      const Real *x = terms[t].a.data + i * terms[t].a.row, *b = terms[t].b.data;
      for (std::int64_t l = 0; l < whole; l += kSums) {
        for (std::int64_t v = 0; v * lanes < kSums; ++v) {
          const std::int64_t at = l + v * lanes;
          parts[v] = hn::MulAdd(hn::LoadU(d, x + at), hn::LoadU(d, b + at), parts[v]);
        }
      }
      for (std::int64_t l = whole; l < k; ++l) rest += x[l] * b[l];
    }
    for (std::int64_t v = 0; v * lanes < kSums; ++v) hn::Store(parts[v], d, sums + v * lanes);
    for (std::int64_t width = kSums / 2; width > 0; width /= 2) {
      for (std::int64_t s = 0; s < width; ++s) sums[s] += sums[s + width];
    }
    Real sum = sums[0] + rest;
    if (options.bias != nullptr) sum += *options.bias;
    c[i] = options.relu && !(sum > 0) ? Real{0} : sum;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace renar
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace renar {

HWY_EXPORT(gemm);
HWY_EXPORT(column);

namespace {

// send[b,i] and recv[b,j] of every row (b,i,j).
const Ends* ends_of(std::int64_t m, std::int64_t n, const GemmOptions& options) {
  if (options.send == nullptr && options.recv == nullptr) return nullptr;
  static thread_local std::vector<Ends> ends;
  ends.resize(static_cast<std::size_t>(m));
  const std::int64_t nodes = options.nodes;
  for (std::int64_t sender = 0, row = 0; row < m; ++sender) {
    const std::int64_t first = sender / nodes * nodes;
    for (std::int64_t j = 0; j < nodes; ++j, ++row) {
      ends[static_cast<std::size_t>(row)] = {
          options.send == nullptr ? nullptr : options.send + sender * n,
          options.recv == nullptr ? nullptr : options.recv + (first + j) * n};
    }
  }
  return ends.data();
}

bool lies_along_k(const GemmTerm& t) { return t.a.col == 1 && t.b.row == 1; }

}  // namespace

void gemm(std::int64_t m, std::int64_t n, const GemmTerm* terms, int count, Real* c,
          const GemmOptions& options) {
  RENAR_CHECK(count <= kMaxFactors, "[gemm] {} terms, at most {}", count, kMaxFactors);
  for (int t = 0; t < count; ++t) add_flops(2 * m * n * terms[t].k);
  const Ends* ends = ends_of(m, n, options);
  if (n == 1 && ends == nullptr && count > 0) {
    if (std::all_of(terms, terms + count, lies_along_k)) {
      return HWY_DYNAMIC_DISPATCH(column)(m, terms, count, c, options);
    }
    if (count == 1 && options.bias == nullptr) {  // the row C^T = B^T A^T, which fills vectors
      const auto& [k, a, b, panels] = terms[0];
      const GemmTerm turned{k, {b.data, 0, b.row}, {a.data, a.col, a.row}, {}};
      return HWY_DYNAMIC_DISPATCH(gemm)(1, m, &turned, 1, nullptr, c, options);
    }
  }
  HWY_DYNAMIC_DISPATCH(gemm)(m, n, terms, count, ends, c, options);
}

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b, Real* c,
          const GemmOptions& options) {
  const GemmTerm term{k, a, b, {}};
  gemm(m, n, &term, 1, c, options);
}

}  // namespace renar
#endif
