// gemm: C = [C +] A B, then + bias, then relu.   A (M,K), B (K,N), C (M,N) row-major, bias (N).
//
// A and B are given with two strides each, so that a transposed factor costs no copy:
//   X W      a = {x, K, 1}, b = {w, N, 1}        forward of a linear layer
//   dY W^T   a = {dy, N, 1}, b = {w, 1, N}       its gradient with respect to X
//   X^T dY   a = {x, 1, K}, b = {dy, N, 1}       its gradient with respect to W
//
// On the CPU; a device has kernels/products.h. Every element of C is one sum in the same order,
// whatever its row, so that equal rows of A give equal rows of C: exact ties of a maximum stay
// ties. Ours rather than OpenBLAS because of that, because of the fused epilogue, and because it is
// faster at these shapes (figures in gemm_simd.cpp).
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace renar {

/// Element (r, c) of a factor is data[r * row + c * col].
struct Factor {
  const Real* data;
  std::int64_t row;
  std::int64_t col;
};

struct GemmOptions {
  bool accumulate = false;     ///< add to what C holds
  const Real* bias = nullptr;  ///< (N), added last
  bool relu = false;           ///< max(., 0) after the bias
};

/// The formula, in plain loops.
void gemm_definition(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b, Real* c,
                     const GemmOptions& options);

/// Through the widest vectors that the CPU has (gemm_simd.cpp), k = 0, 1, .. in order.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Factor a, Factor b, Real* c,
          const GemmOptions& options = {});

/// Floating-point operations of products, those on a device too, counted while `on`; renar_bench
/// reads them. Off at the start.
void count_flops(bool on);
void add_flops(std::int64_t count);
std::int64_t counted_flops();

}  // namespace renar
