// softmax: y[r] = exp(x[r]) / sum exp(x[r]), over the last axis; x, y (.., C).
#pragma once

#include "core/tape.h"

namespace renar {

Tensor softmax(Tape& tape, Tensor x);

/// log softmax(x)[c] = (x[c] - largest) - log_sum. Two numbers, because the sum of both would lose
/// log_sum where x is large.
struct LogSoftmax {
  Real largest;
  Real log_sum;  ///< log of the sum of exp(x[c] - largest)
  Real operator()(Real x) const { return (x - largest) - log_sum; }
};
LogSoftmax log_softmax(const Real* x, std::int64_t count);

}  // namespace renar
