#include "nn/postprocess.h"

#include <algorithm>

#include "kernels/log_sinkhorn.h"
#include "kernels/pointwise.h"
#include "kernels/softmax.h"

namespace renar {
namespace {

Tensor soft(Tape& tape, const Probe& probe, Tensor logits) {
  switch (probe.type) {
    case Type::kScalar: return logits;
    case Type::kMask: return sigmoid(tape, logits);
    case Type::kMaskOne:
    case Type::kCategorical:
    case Type::kPointer:
    case Type::kShouldBePermutation: return softmax(tape, logits);
    case Type::kPermutationPointer:
      return exponential(tape, log_sinkhorn(tape, logits, kFeedbackRounds));
  }
  return {};
}

void mark_largest(const Real* logits, const Tensor& y) {
  std::fill_n(y.data, y.size(), Real{0});
  for (std::int64_t r = 0; r < y.rows(); ++r) {
    y.data[r * y.cols() + largest(logits + r * y.cols(), y.cols())] = 1;
  }
}

Tensor hard(Tape& tape, const Probe& probe, Tensor logits) {
  Tensor y = tape.constant(logits.shape);
  switch (probe.type) {
    case Type::kScalar: std::copy_n(logits.data, y.size(), y.data); break;
    case Type::kMask:
      std::transform(logits.data, logits.data + y.size(), y.data,
                     [](Real x) { return x > 0 ? Real{1} : Real{0}; });
      break;
    case Type::kMaskOne:
    case Type::kCategorical:
    case Type::kPointer:
    case Type::kShouldBePermutation: mark_largest(logits.data, y); break;
    case Type::kPermutationPointer:
      logits.grad = nullptr;
      mark_largest(log_sinkhorn(tape, logits, kFeedbackRounds).data, y);
      break;
  }
  return y;
}

}  // namespace

std::int64_t largest(const Real* x, std::int64_t count) {
  return std::max_element(x, x + count) - x;
}

Tensor postprocess(Tape& tape, const Probe& probe, Tensor logits, Postprocess mode) {
  return mode == Postprocess::kSoft ? soft(tape, probe, logits) : hard(tape, probe, logits);
}

}  // namespace renar
