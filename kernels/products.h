// products: layers' sums of matrix products, on a device.
//
//   add_products   y = sum over terms x_t w_t + biases + send + recv, then relu
//   add_to_input   dx += dy w^T
//
// x (rows, in), w (in, out), y and dy (rows, out), all row-major. Layers that do not need each
// other's results are computed by one kernel (core/collected.h).
//
// Every element is one sum in an order that does not depend on its row, so that equal rows of x
// give equal rows of y: exact ties of a maximum stay ties. Ours rather than cuBLAS because of that
// and because of what is fused and collected.
#pragma once

#include <cstdint>

#include "core/device.h"
#include "kernels/gemm.h"

namespace renar {

struct ProductSum {
  struct Term {
    const Real* x;
    const Real* w;
    std::int64_t in;
  };

  std::int64_t rows, out;
  Real* y;
  int terms = 0;
  Term term[kMaxTerms] = {};
  int biases = 0;
  const Real* bias[kMaxTerms] = {};  ///< (out) each
  /// Of a layer on edges, whose rows are (b,i,j) of `nodes` nodes: send[b,i] and recv[b,j] are
  /// added, (B,nodes,out) or null.
  const Real* send = nullptr;
  const Real* recv = nullptr;
  std::int64_t nodes = 1;
  bool relu = false;
  Precision precision = Precision::kFp32;  ///< of the terms' products
};

/// All memory that these are given is the device's.
void add_products(const ProductSum& sum);
/// dx (rows, in) += dy (rows, out) w^T, w (in, out).
void add_to_input(std::int64_t rows, std::int64_t in, std::int64_t out, const Real* dy,
                  const Real* w, Real* dx, Precision precision = Precision::kFp32);

/// dy = 0 where y was not positive, both (rows, out), at the end of the add_to_input that gives dy
/// its last terms; false, and nothing done, where none that waits does.
bool end_with_relu(std::int64_t rows, std::int64_t out, const Real* y, Real* dy);

}  // namespace renar
