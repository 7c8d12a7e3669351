// What the tensor cores of a GPU multiply: C += A B of a warp together, with factors of few bits.
//
//   Tf32   A (16,8),  B (8,8)    8 bits of exponent, 10 of fraction; a number a word
//   Bf16   A (16,16), B (16,8)   8 bits of exponent, 7 of fraction; two numbers a word
//
// C (16,8) is float. Each lane holds some words of A and B and some numbers of C, its fragments
// (PTX ISA, "Matrix Fragments for mma.m16n8k8", "mma.m16n8k16"). With g = lane / 4, t = lane % 4:
//
//   A  words 0 1 2 3     rows g, g+8, g, g+8    words t, t, t+4, t+4 along k
//   B  words 0 1         column g               words t, t+4 along k
//   C  numbers 0 1 2 3   rows g, g, g+8, g+8    columns 2t, 2t+1, 2t, 2t+1
//
// Word w along k is number w of Tf32; of Bf16 it is numbers 2w, in its low half, and 2w + 1. With
// nvcc these are instructions (compute capability 8.0 or newer); without it fibers compute the
// same, k by k. In which order a GPU adds up is not told; that equal rows of A give equal rows of C
// is for the tests to see there (tests/kernels/product_arithmetic_test.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/device_code.h"

#ifndef __CUDACC__
#include "core/simt.h"
#endif

namespace renar {

/// x as the nearest Tf32, halves away from zero, like cvt.rna.tf32.f32.
RENAR_HOST_DEVICE inline float rounded_to_tf32(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof x);
  bits = x == x ? (bits + 0x1000u) & ~0x1fffu : 0x7fffe000u;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// x as the nearest Bf16, halves to even, like cvt.rn.bf16.f32.
RENAR_HOST_DEVICE inline float rounded_to_bf16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof x);
  bits = x == x ? (bits + 0x7fffu + (bits >> 16 & 1u)) & ~0xffffu : 0x7fff0000u;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// A lane's fragments.
using WarpA = std::uint32_t[4];
using WarpB = std::uint32_t[2];
using WarpC = float[4];

// Of both: word(..) rounds numbers to a word; multiply_add is c += a b, and all lanes of the warp
// must call it.
#ifdef __CUDACC__

struct Tf32 {
  static constexpr int kPerWord = 1;

  __device__ static std::uint32_t word(float x) {
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
  }
  __device__ static void multiply_add(const WarpA& a, const WarpB& b, WarpC& c) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

struct Bf16 {
  static constexpr int kPerWord = 2;

  __device__ static std::uint32_t word(float low, float high) {
    std::uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
  }
  __device__ static void multiply_add(const WarpA& a, const WarpB& b, WarpC& c) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

#else

namespace simt {

template <class Format>
void multiply_fragments(Fragments* of_lanes) {
  constexpr int kNumbers = Format::kPerWord;
  float a[16][8 * kNumbers], b[8 * kNumbers][8], c[16][8];
  const auto in_each = [&](const auto& f) {  // f(c of a lane, its place in C)
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) {
        f(of_lanes[lane].c[i], c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
      }
    }
  };
  for (int lane = 0; lane < 32; ++lane) {
    const Fragments& its = of_lanes[lane];
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
      Format::unpack(its.a[i], a[g + i % 2 * 8] + (t + i / 2 * 4) * kNumbers);
    }
    for (int i = 0; i < 2; ++i) {
      float column[kNumbers];
      Format::unpack(its.b[i], column);
      for (int e = 0; e < kNumbers; ++e) b[(t + i * 4) * kNumbers + e][g] = column[e];
    }
  }
  in_each([](float mine, float& its) { its = mine; });
  for (int row = 0; row < 16; ++row) {
    for (int k = 0; k < 8 * kNumbers; ++k) {
      for (int column = 0; column < 8; ++column) c[row][column] += a[row][k] * b[k][column];
    }
  }
  in_each([](float& mine, float its) { mine = its; });
}

template <class Format>
void multiply_add(const WarpA& a, const WarpB& b, WarpC& c, std::source_location at) {
  Fragments mine;
  std::copy_n(a, 4, mine.a);
  std::copy_n(b, 2, mine.b);
  std::copy_n(c, 4, mine.c);
  warp_together(multiply_fragments<Format>, mine, at);
  std::copy_n(mine.c, 4, c);
}

}  // namespace simt

struct Tf32 {
  static constexpr int kPerWord = 1;

  static std::uint32_t word(float x) {
    x = rounded_to_tf32(x);
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof x);
    return bits;
  }
  static void unpack(std::uint32_t word, float* x) {
    word &= ~0x1fffu;  // as a GPU, which does not look at the others
    std::memcpy(x, &word, sizeof word);
  }
  static void multiply_add(const WarpA& a, const WarpB& b, WarpC& c,
                           std::source_location at = std::source_location::current()) {
    simt::multiply_add<Tf32>(a, b, c, at);
  }
};

struct Bf16 {
  static constexpr int kPerWord = 2;

  static std::uint32_t word(float low, float high) {
    std::uint32_t halves[2];
    low = rounded_to_bf16(low), high = rounded_to_bf16(high);
    std::memcpy(&halves[0], &low, sizeof low);
    std::memcpy(&halves[1], &high, sizeof high);
    return halves[0] >> 16 | halves[1];
  }
  static void unpack(std::uint32_t word, float* x) {
    const std::uint32_t halves[] = {word << 16, word & 0xffff0000u};
    std::memcpy(x, halves, sizeof halves);
  }
  static void multiply_add(const WarpA& a, const WarpB& b, WarpC& c,
                           std::source_location at = std::source_location::current()) {
    simt::multiply_add<Bf16>(a, b, c, at);
  }
};

#endif

}  // namespace renar
