// gemm: C = [C +] A B, then + bias, then relu.   A (M,K), B (K,N), C (M,N) row-major, bias (N).
// A layer is a sum of several such products in one pass over C, which may start as what its ends
// are: C = send + recv + A_0 B_0 + A_1 B_1 + ..
//
// A and B are given with two strides each, so that a transposed factor costs no copy:
//   X W      a = {x, K, 1}, b = {w, N, 1}        forward of a linear layer
//   dY W^T   a = {dy, N, 1}, b = {w, 1, N}       its gradient with respect to X
//   X^T dY   a = {x, 1, K}, b = {dy, N, 1}       its gradient with respect to W
//
// On the CPU; a device has kernels/products.h. Every element of C is one sum in the same order,
// whatever its row, so that equal rows of A give equal rows of C: exact ties of a maximum stay
// ties. Ours rather than OpenBLAS because of that and because a layer is one pass over C; no
// library is faster at these shapes (figures in gemm_simd.cpp).
#pragma once

#include <cstdint>

#include "core/packed_weights.h"
#include "core/tensor.h"

namespace renar {

/// Element (r, c) of a factor is data[r * row + c * col].
struct Factor {
  const Real* data;
  std::int64_t row;
  std::int64_t col;
};

constexpr int kMaxTerms = 6;    // of a layer
constexpr int kMaxFactors = 8;  // of one sum: a layer's terms, or what a weight was used for

struct GemmTerm {
  std::int64_t k;
  Factor a, b;
  Panels panels = {};  ///< of b, where they were made before
};

struct GemmOptions {
  bool accumulate = false;     ///< add to what C holds
  const Real* bias = nullptr;  ///< (N), added last
  bool relu = false;           ///< max(., 0) after the bias
  /// Of a layer on edges, whose rows are (b,i,j) of `nodes` nodes: C starts as send[b,i] plus
  /// recv[b,j], (B,nodes,N) or null. Not together with accumulate.
  const Real* send = nullptr;
  const Real* recv = nullptr;
  std::int64_t nodes = 1;
  /// (M,N), or null: what the caller reads next, fetched while C is computed.
  const Real* next = nullptr;
};

/// What one row of C starts as; null is zero.
struct Ends {
  const Real* send;
  const Real* recv;
};

/// The formula, in plain loops.
void gemm_definition(std::int64_t m, std::int64_t n, const GemmTerm* terms, int count, Real* c,
                     const GemmOptions& options);
inline void gemm_definition(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b,
                            Real* c, const GemmOptions& options) {
  const GemmTerm term{k, a, b};
  gemm_definition(m, n, &term, 1, c, options);
}

/// Through the widest vectors that the CPU has (gemm_simd.cpp), term by term, k = 0, 1, .. in
/// order; but a single column (N = 1) vector by vector. Throws renar::Error beyond kMaxFactors.
void gemm(std::int64_t m, std::int64_t n, const GemmTerm* terms, int count, Real* c,
          const GemmOptions& options);
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b, Real* c,
          const GemmOptions& options = {});

/// Floating-point operations of products, those on a device too, counted while `on`; renar_bench
/// reads them. Off at the start.
void count_flops(bool on);
void add_flops(std::int64_t count);
std::int64_t counted_flops();

}  // namespace renar
