#include "nn/score.h"

#include <algorithm>

#include "core/check.h"
#include "kernels/log_sinkhorn.h"
#include "kernels/mask_cross_entropy.h"
#include "nn/postprocess.h"

namespace renar {
namespace {

bool is_permutation(const Probe& probe) { return probe.type == Type::kPermutationPointer; }

/// The mask of a permutation pointer.
std::size_t mask_of(const Spec& spec, std::size_t permutation) {
  const std::string name = spec[permutation].name + "_mask";
  RENAR_CHECK(spec.contains(name),
              "[score] the permutation_pointer {} has no {} that says where "
              "it begins",
              spec[permutation].name, name);
  return spec.index_of(name);
}

/// One sample's permutation and mask as a pointer: rows (N,N) and mask (N) by their largest.
std::vector<Real> fused(const Real* rows, const Real* mask, std::int64_t nodes) {
  std::vector<Real> pointers;
  for (std::int64_t i = 0; i < nodes; ++i) {
    pointers.push_back(static_cast<Real>(largest(rows + i * nodes, nodes)));
  }
  const std::int64_t first = largest(mask, nodes);
  pointers[static_cast<std::size_t>(first)] = static_cast<Real>(first);
  return pointers;
}

/// One sample's truth of an output (frame 0) or a hint: numbers, or a permutation as pointers.
struct Truth {
  Truth(const Batch& batch, std::size_t probe, std::int64_t frame, std::int64_t sample)
      : numbers(batch.at(probe, frame, sample)), size(batch.stride(probe)) {
    if (!is_permutation((*batch.spec)[probe])) return;
    pointers = fused(numbers, batch.at(mask_of(*batch.spec, probe), 0, sample), batch.nodes);
    numbers = pointers.data();
    size = batch.nodes;
  }
  Truth(const Truth&) = delete;
  Truth& operator=(const Truth&) = delete;

  std::vector<Real> pointers;
  const Real* numbers;
  std::int64_t size;
};

void add_choice(bool predicted, bool positive, ScoreCount& count) {
  count.elements += 1;
  count.true_positive += predicted && positive;
  count.false_positive += predicted && !positive;
  count.false_negative += !predicted && positive;
}

/// Adds one sample. predicted(r) is the number, the 0 / 1, the class or the node that is predicted
/// for element or row r.
template <class Predicted>
void count_sample(const Probe& probe, const Truth& truth, std::int64_t nodes,
                  const Predicted& predicted, ScoreCount& count) {
  const Real* numbers = truth.numbers;
  switch (probe.type) {
    case Type::kScalar:
      for (std::int64_t i = 0; i < truth.size; ++i) {
        const double error = static_cast<double>(predicted(i)) - static_cast<double>(numbers[i]);
        count.sum += error * error;
        count.elements += 1;
      }
      return;
    case Type::kMask:
      for (std::int64_t i = 0; i < truth.size; ++i) {
        if (numbers[i] != kMasked) add_choice(predicted(i) > 0, numbers[i] > 0, count);
      }
      return;
    case Type::kMaskOne:
    case Type::kCategorical: {
      const std::int64_t range = choices(probe, nodes);
      for (std::int64_t r = 0; r < truth.size / range; ++r) {
        const Real* row = numbers + r * range;
        if (std::find(row, row + range, kMasked) != row + range) continue;
        count.sum += predicted(r) == static_cast<Real>(largest(row, range));
        count.elements += 1;
      }
      return;
    }
    case Type::kPointer:
    case Type::kShouldBePermutation:
    case Type::kPermutationPointer:
      for (std::int64_t i = 0; i < truth.size; ++i) {
        count.sum += predicted(i) == numbers[i];
        count.elements += 1;
      }
      return;
  }
}

double f1(const ScoreCount& count) {
  const double predicted = count.true_positive + count.false_positive;
  const double positive = count.true_positive + count.false_negative;
  const double precision = predicted > 0 ? count.true_positive / predicted : 1;
  const double recall = positive > 0 ? count.true_positive / positive : 1;
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

/// The permutation that one sample's logits mean, as pointers.
std::vector<Real> predicted_pointers(const Batch& batch, std::size_t probe,
                                     const Predictions& predictions, std::int64_t sample) {
  const std::int64_t n = batch.nodes;
  std::vector<Real> rows(static_cast<std::size_t>(n * n));
  log_sinkhorn_of(n, kScoreRounds, predictions.at(batch, probe, 0, sample), rows.data());
  const std::size_t mask = mask_of(*batch.spec, probe);
  return fused(rows.data(), predictions.at(batch, mask, 0, sample), n);
}

/// Where edge or node i of a sample points by guess: 0, itself, and of an edge its second node.
std::int64_t pointed_at(const Probe& probe, std::int64_t nodes, std::size_t guess, std::int64_t i) {
  if (guess == 0) return 0;
  const bool edge = probe.location == Location::kEdge;
  if (guess == 1) return edge ? i / nodes : i;
  return i % nodes;
}

std::size_t guesses(const Probe& probe) {
  switch (probe.type) {
    case Type::kScalar: return 1;
    case Type::kMask:
    case Type::kMaskOne: return 2;
    case Type::kCategorical: return static_cast<std::size_t>(probe.classes);
    case Type::kPointer:
    case Type::kShouldBePermutation:
    case Type::kPermutationPointer:
      switch (probe.location) {
        case Location::kNode: return 2;
        case Location::kEdge: return 3;
        case Location::kGraph: return 1;
      }
  }
  return 0;
}

/// The constant prediction of that number for element or row r.
Real guessed(const Probe& probe, std::int64_t nodes, std::size_t guess, std::int64_t r) {
  switch (probe.type) {
    case Type::kScalar: return 0;
    case Type::kMask:
    case Type::kCategorical: return static_cast<Real>(guess);
    case Type::kMaskOne: return static_cast<Real>(guess == 0 ? 0 : nodes - 1);
    case Type::kPointer:
    case Type::kShouldBePermutation:
    case Type::kPermutationPointer: return static_cast<Real>(pointed_at(probe, nodes, guess, r));
  }
  return 0;
}

}  // namespace

std::vector<std::size_t> scored_outputs(const Spec& spec) {
  std::vector<std::size_t> outputs;
  for (std::size_t p = 0; p < spec.size(); ++p) {
    const bool mask = std::any_of(spec.begin(), spec.end(), [&](const Probe& other) {
      return is_permutation(other) && spec[p].name == other.name + "_mask";
    });
    if (spec[p].stage == Stage::kOutput && !mask) outputs.push_back(p);
  }
  return outputs;
}

ScoreCount& ScoreCount::operator+=(const ScoreCount& other) {
  sum += other.sum;
  elements += other.elements;
  true_positive += other.true_positive;
  false_positive += other.false_positive;
  false_negative += other.false_negative;
  return *this;
}

void count_sample_score(const Batch& batch, std::size_t p, const Predictions& predictions,
                        std::int64_t step, std::int64_t sample, ScoreCount& count) {
  const Probe& probe = (*batch.spec)[p];
  const std::int64_t nodes = batch.nodes;
  const bool hint = probe.stage == Stage::kHint;
  const Truth truth(batch, p, hint ? step + 1 : 0, sample);
  if (is_permutation(probe)) {
    const std::vector<Real> pointers = predicted_pointers(batch, p, predictions, sample);
    const auto predicted = [&](std::int64_t i) { return pointers[static_cast<std::size_t>(i)]; };
    count_sample(probe, truth, nodes, predicted, count);
    return;
  }
  const Real* values = predictions.at(batch, p, step, sample);
  if (!chooses(probe) || predictions.as_choices(probe)) {
    count_sample(
        probe, truth, nodes, [&](std::int64_t r) { return values[r]; }, count);
    return;
  }
  const std::int64_t range = choices(probe, nodes);
  const auto predicted = [&](std::int64_t r) {
    return static_cast<Real>(largest(values + r * range, range));
  };
  count_sample(probe, truth, nodes, predicted, count);
}

double wrong_choices(const Probe& probe, const ScoreCount& count) {
  switch (probe.type) {
    case Type::kScalar: return 0;
    case Type::kMask: return count.false_positive + count.false_negative;
    case Type::kMaskOne:
    case Type::kCategorical:
    case Type::kPointer:
    case Type::kShouldBePermutation:
    case Type::kPermutationPointer: return count.elements - count.sum;
  }
  return 0;
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

void count_trivial(const Batch& batch, std::size_t p, TrivialCounts& counts) {
  const Probe& probe = (*batch.spec)[p];
  counts.resize(guesses(probe));
  for (std::int64_t b = 0; b < batch.size; ++b) {
    const Truth truth(batch, p, 0, b);
    for (std::size_t guess = 0; guess < counts.size(); ++guess) {
      const auto predicted = [&](std::int64_t r) { return guessed(probe, batch.nodes, guess, r); };
      count_sample(probe, truth, batch.nodes, predicted, counts[guess]);
    }
  }
}

double trivial_score(const Probe& probe, const TrivialCounts& counts) {
  double best = score_of(probe, counts.at(0));
  for (const ScoreCount& count : counts) best = std::max(best, score_of(probe, count));
  return best;
}

}  // namespace renar
