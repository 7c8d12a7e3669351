// learned_sums: the gradients of weights and biases over all that they were used for, on a device.
//
//   dw += sum over uses of x^T dy                    dw (in, out)
//   db += sum over uses of the column sums of dy     db (out)
//
// A use is one layer of one time step, x (rows, in) and dy (rows, out). One long sum after the last
// of them, which learn_weight and learn_bias file, in place of a product a time step, which would
// be a hundred launches, each too small for a GPU.
#pragma once

#include <cstdint>
#include <span>

#include "core/device.h"
#include "core/device_code.h"
#include "core/tape.h"

namespace renar {

/// While a device's tape records: w (in, out) is used for x (rows, in), and backward will find the
/// gradient of what came of it at dy (rows, out). Both must last as long as the trajectory, or its
/// segment. The first use files the sum, so that backward meets it after the last.
void learn_weight(Tape& tape, const Tensor& w, const Real* x, const Real* dy, std::int64_t rows);
/// The gradient of bias (out) is the sum of the rows of dy (rows, out), which need not be that of a
/// layer: parts of any sum over rows.
void learn_bias(Tape& tape, const Tensor& bias, const Real* dy, std::int64_t rows);

struct Use {
  const Real* x;
  const Real* dy;
  std::int64_t rows;
  std::int64_t first;  ///< strides of all uses before it, see strides_of
};

/// Long sums are cut where a stride of rows begins.
constexpr std::int64_t kStride = 64;
RENAR_HOST_DEVICE constexpr std::int64_t strides_of(std::int64_t rows) {
  return (rows + kStride - 1) / kStride;
}

/// What a weight or a bias was used for; `uses` is device memory.
struct Uses {
  const Use* uses;
  std::int64_t count;
  std::int64_t strides;  ///< of all of them
};

/// The gradient of one weight, or of one bias: then `in` is 0.
struct LongSum {
  std::int64_t in, out;
  Uses uses;
  const Use* here;  ///< the same uses, in the host's memory
  Real* scratch;    ///< as much as is said below; null where that is nothing
  Real* grad;       ///< (in, out) or (out), to which it is added
};

/// All memory but `here` is the device's. A weight is a kernel of its own; biases and the parts of
/// weights share a few.
std::int64_t long_sum_scratch(std::int64_t in, std::int64_t out, std::int64_t strides);
void add_long_sums(std::span<const LongSum> sums, Precision precision = Precision::kFp32);

}  // namespace renar
