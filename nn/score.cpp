#include "nn/score.h"

#include <algorithm>

#include "kernels/mask_cross_entropy.h"
#include "nn/postprocess.h"

namespace renar {
namespace {

void count_squares(const Real* logits, const Real* truth, std::int64_t size, ScoreCount& count) {
  for (std::int64_t i = 0; i < size; ++i) {
    const double error = static_cast<double>(logits[i]) - static_cast<double>(truth[i]);
    count.sum += error * error;
    count.elements += 1;
  }
}

void count_mask(const Real* logits, const Real* truth, std::int64_t size, ScoreCount& count) {
  for (std::int64_t i = 0; i < size; ++i) {
    if (truth[i] == kMasked) continue;
    const bool predicted = logits[i] > 0, positive = truth[i] > 0;
    count.elements += 1;
    count.true_positive += predicted && positive;
    count.false_positive += predicted && !positive;
    count.false_negative += !predicted && positive;
  }
}

void count_choices(const Real* logits, const Real* truth, std::int64_t size, std::int64_t range,
                   ScoreCount& count) {
  for (std::int64_t r = 0; r < size; r += range) {
    if (std::find(truth + r, truth + r + range, kMasked) != truth + r + range) continue;
    count.sum += largest(logits + r, range) == largest(truth + r, range);
    count.elements += 1;
  }
}

void count_pointers(const Real* logits, const Real* truth, std::int64_t size, std::int64_t nodes,
                    ScoreCount& count) {
  for (std::int64_t i = 0; i < size; ++i) {
    count.sum += largest(logits + i * nodes, nodes) == static_cast<std::int64_t>(truth[i]);
    count.elements += 1;
  }
}

double f1(const ScoreCount& count) {
  const double predicted = count.true_positive + count.false_positive;
  const double positive = count.true_positive + count.false_negative;
  const double precision = predicted > 0 ? count.true_positive / predicted : 1;
  const double recall = positive > 0 ? count.true_positive / positive : 1;
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

}  // namespace

void count_score(const Batch& batch, std::size_t p, const Predictions& predictions,
                 ScoreCount& count) {
  const Probe& probe = (*batch.spec)[p];
  const std::int64_t size = batch.stride(p);
  for (std::int64_t b = 0; b < batch.size; ++b) {
    const Real* logits = predictions.at(batch, p, 0, b);
    const Real* truth = batch.at(p, 0, b);
    switch (probe.type) {
      case Type::kScalar: count_squares(logits, truth, size, count); break;
      case Type::kMask: count_mask(logits, truth, size, count); break;
      case Type::kMaskOne:
      case Type::kCategorical:
        count_choices(logits, truth, size, choices(probe, batch.nodes), count);
        break;
      case Type::kPointer:
      case Type::kShouldBePermutation:
      case Type::kPermutationPointer:
        count_pointers(logits, truth, size, batch.nodes, count);
        break;
    }
  }
}

double score_of(const Probe& probe, const ScoreCount& count) {
  switch (probe.type) {
    case Type::kMask: return f1(count);
    case Type::kScalar: return count.elements > 0 ? count.sum / count.elements : 0;
    case Type::kMaskOne:
    case Type::kCategorical:
    case Type::kPointer:
    case Type::kShouldBePermutation:
    case Type::kPermutationPointer: return count.elements > 0 ? count.sum / count.elements : 1;
  }
  return 0;
}

double batch_score(const Batch& batch, const Predictions& predictions) {
  double sum = 0, outputs = 0;
  for (std::size_t p = 0; p < batch.spec->size(); ++p) {
    if ((*batch.spec)[p].stage != Stage::kOutput) continue;
    ScoreCount count;
    count_score(batch, p, predictions, count);
    sum += score_of((*batch.spec)[p], count);
    outputs += 1;
  }
  return sum / outputs;
}

}  // namespace renar
