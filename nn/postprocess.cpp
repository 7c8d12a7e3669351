#include "nn/postprocess.h"

#include <algorithm>

#include "kernels/copy_numbers.h"
#include "kernels/log_sinkhorn.h"
#include "kernels/mark_largest.h"
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

Tensor copy_of(Tape& tape, Tensor x) {
  Tensor y = tape.constant(x.shape);
  copy_numbers(tape.device(), x.size(), x.data, y.data);
  return y;
}

Tensor hard(Tape& tape, const Probe& probe, Tensor logits) {
  logits.grad = nullptr;
  switch (probe.type) {
    case Type::kScalar: return copy_of(tape, logits);
    case Type::kMask: return above_zero(tape, logits);
    case Type::kMaskOne:
    case Type::kCategorical:
    case Type::kPointer:
    case Type::kShouldBePermutation: return mark_largest(tape, logits);
    case Type::kPermutationPointer:
      return mark_largest(tape, log_sinkhorn(tape, logits, kFeedbackRounds));
  }
  return {};
}

}  // namespace

std::int64_t largest(const Real* x, std::int64_t count) {
  return std::max_element(x, x + count) - x;
}

Tensor postprocess(Tape& tape, const Probe& probe, Tensor logits, Postprocess mode) {
  return mode == Postprocess::kSoft ? soft(tape, probe, logits) : hard(tape, probe, logits);
}

}  // namespace renar
