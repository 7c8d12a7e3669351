// How the threads of a team multiply what lies in shared memory (kernels/product_tiles.cuh).
//
//   Plain              Real by Real, a thread for itself: per k and block side it loads two times
//                      four numbers, each in one instruction: for 16 multiply-adds, or with 2 x 2
//                      blocks for 64
//   TensorCores<Tf32>  factors rounded to tf32, sums in float (core/warp_mma.h), a warp together:
//                      per 8 of k a thread has four loads, of 12 words, for four products
//   TensorCores<Bf16>  the same of bf16, per 16 of k
//
// Whichever it is, a thread owns blocks of 4 x 4 numbers of C that lie side by side.
#pragma once

#include "core/launch.h"
#include "core/warp_mma.h"

namespace renar {

constexpr int kOwn = 4;  // rows and columns of C in a thread
constexpr int kRun = 8;  // numbers of a 32-byte sector

template <class Word, int kCount>
struct alignas(kCount * 4) Run {  // loaded and stored as one
  Word at[kCount];
};
using Four = Run<Real, kOwn>;

using Sums = Real[kOwn][kOwn];

/// A thread's blocks: T::kBlocks x T::kBlocks, each T::kApart from its neighbours.
template <class T>
using SumsOf = Sums[T::kBlocks][T::kBlocks];

struct Plain {
  /// What shared memory holds, and how many numbers along k are in it.
  using Word = Real;
  static constexpr int kPerWord = 1;

  /// The thread's first row and column of the team's tile.
  template <class T>
  __device__ static int row(int member) {
    return member / T::kAcross * kOwn;
  }
  template <class T>
  __device__ static int col(int member) {
    return member % T::kAcross * kOwn;
  }

  /// The numbers from[0] and, where a word has two, from[apart].
  __device__ static Word word(const Real* from, int) { return *from; }

  /// sums += the team's share of the tiles' product, of the thread whose part begins at (row, col).
  template <class T>
  __device__ static void multiply(const Word* a_tile, const Word* b_tile, int row, int col,
                                  int team, SumsOf<T>& sums) {
    constexpr int kShare = T::kDepth / T::kTeams;
    const int skipped = T::kTeams > 1 ? team * kShare * T::kPitch : 0;
    RENAR_UNROLL
    for (int l = 0; l < kShare; ++l) {
      Four a[T::kBlocks], b[T::kBlocks];
      RENAR_UNROLL
      for (int u = 0; u < T::kBlocks; ++u) {
        const int on = skipped + l * T::kPitch + u * T::kApart;
        a[u] = *reinterpret_cast<const Four*>(a_tile + row + on);
        b[u] = *reinterpret_cast<const Four*>(b_tile + col + on);
      }
      RENAR_UNROLL
      for (int e = 0; e < T::kBlocks * T::kBlocks; ++e) {
        add_outer(a[e / T::kBlocks], b[e % T::kBlocks], sums[e / T::kBlocks][e % T::kBlocks]);
      }
    }
  }

 private:
  __device__ static void add_outer(const Four& a, const Four& b, Sums& sums) {
    RENAR_UNROLL
    for (int r = 0; r < kOwn; ++r) {
      RENAR_UNROLL
      for (int q = 0; q < kOwn; ++q) sums[r][q] += a.at[r] * b.at[q];
    }
  }
};

/// A warp has 32 x 16 of C, which is two times two products of tensor cores. Which rows, columns
/// and words along k each of them takes is free, as long as A, B and C agree. Taken are
///
///   rows 4g .. 4g+3      as rows g and g+8 of the upper products, then of the lower ones
///   columns 4t .. 4t+3   as columns 2t of the left products and of the right, then 2t+1 of both
///   words 2t and 2t+1    as words t and t+4
///
/// so that a lane's numbers of C lie side by side, as Plain's do, and so do its words of A and B,
/// which a warp then loads without two lanes in one bank.
template <class Format>
struct TensorCores {
  using Word = std::uint32_t;
  static constexpr int kPerWord = Format::kPerWord;
  static constexpr int kRows = 32, kCols = 16, kWords = 8;  // of a warp's product
  static constexpr int kGroup = 4;                          // lanes that share rows

  template <class T>
  __device__ static int row(int member) {
    return member / kWarp / (T::kSide / kCols) * kRows + member % kWarp / kGroup * kOwn;
  }
  template <class T>
  __device__ static int col(int member) {
    return member / kWarp % (T::kSide / kCols) * kCols + member % kGroup * kOwn;
  }

  __device__ static Word word(const Real* from, int apart) {
    if constexpr (kPerWord == 1) {
      return Format::word(static_cast<float>(from[0]));
    } else {
      return Format::word(static_cast<float>(from[0]), static_cast<float>(from[apart]));
    }
  }

  template <class T>
  __device__ static void multiply(const Word* a_tile, const Word* b_tile, int row, int col,
                                  int team, SumsOf<T>& all_sums) {
    constexpr int kShare = T::kDepth / kPerWord / T::kTeams;
    static_assert(kShare % kWords == 0 && T::kSide % kRows == 0 && T::kTeam % kWarp == 0);
    static_assert(T::kBlocks == 1);
    Sums& sums = all_sums[0][0];
    const int t = lane_index() % kGroup, g = lane_index() / kGroup;
    const int deep = (team * kShare + 2 * t) * T::kPitch;
    const Word* a_at = a_tile + deep + row;
    const Word* b_at = b_tile + deep + col - kOwn * t + 2 * g;
    RENAR_UNROLL
    for (int l = 0; l < kShare; l += kWords) {
      Run<Word, 4> a[2];
      Run<Word, 2> b[2];
      RENAR_UNROLL
      for (int half = 0; half < 2; ++half) {
        a[half] = *reinterpret_cast<const Run<Word, 4>*>(a_at + (l + half) * T::kPitch);
        b[half] = *reinterpret_cast<const Run<Word, 2>*>(b_at + (l + half) * T::kPitch);
      }
      RENAR_UNROLL
      for (int r = 0; r < kOwn; r += 2) {
        RENAR_UNROLL
        for (int q = 0; q < 2; ++q) {
          const WarpA of_a = {a[0].at[r], a[0].at[r + 1], a[1].at[r], a[1].at[r + 1]};
          const WarpB of_b = {b[0].at[q], b[1].at[q]};
          multiply_add(of_a, of_b, sums[r][q], sums[r][q + 2], sums[r + 1][q], sums[r + 1][q + 2]);
        }
      }
    }
  }

 private:
  __device__ static void multiply_add(const WarpA& a, const WarpB& b, Real& c0, Real& c1, Real& c2,
                                      Real& c3) {
    WarpC c = {static_cast<float>(c0), static_cast<float>(c1), static_cast<float>(c2),
               static_cast<float>(c3)};
    Format::multiply_add(a, b, c);
    c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
  }
};

}  // namespace renar
