// softmax: y[r] = exp(x[r]) / sum exp(x[r]), over the last axis; x, y (.., C).
#pragma once

#include <cmath>

#include "core/device_code.h"
#include "core/tape.h"

namespace renar {

Tensor softmax(Tape& tape, Tensor x);

/// A row's softmax: p[c] = exp(x[c] - largest) / sum, log p[c] = (x[c] - largest) - log sum. Two
/// numbers, because their combination would lose the sum where x is large; and p by division,
/// because an error of log sum would be common to the whole row, whose gradients should cancel.
struct SoftmaxRow {
  Real largest;
  Real sum;  ///< of exp(x[c] - largest)

  RENAR_HOST_DEVICE Real probability(Real x) const { return std::exp(x - largest) / sum; }
  RENAR_HOST_DEVICE Real log_probability(Real x) const { return (x - largest) - std::log(sum); }
};
SoftmaxRow softmax_row(const Real* x, std::int64_t count);

/// softmax_row of every row of x (rows, cols), where the device is.
void softmax_rows(Device device, std::int64_t rows, std::int64_t cols, const Real* x,
                  SoftmaxRow* softmax);

}  // namespace renar
