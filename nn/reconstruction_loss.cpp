#include "nn/reconstruction_loss.h"

#include <algorithm>

#include "kernels/mask_cross_entropy.h"
#include "kernels/reconstruction_loss.h"
#include "nn/teacher_forcing.h"

namespace renar {
namespace {

/// Whether the rows of a categorical hint count where a prediction was fed in.
bool counts_predicted_rows(Masking masking, bool soft) {
  return masking == Masking::kPaper || !soft;
}

/// Elements or rows of one sample's hint that count where nothing is hidden. Null: a prediction was
/// fed in.
double valid_all(const Probe& probe, const Real* truth, std::int64_t count, std::int64_t nodes,
                 bool counts_rows) {
  if (truth != nullptr) {
    return static_cast<double>(valid_elements(probe, truth, count, nodes));
  }
  if (probe.type == Type::kCategorical && !counts_rows) return 0;
  return static_cast<double>(is_index(probe) ? count : count / choices(probe, nodes));
}

/// The same among the hidden nodes of a round.
double valid_hidden(const Probe& probe, const Real* truth, const std::uint8_t* hidden,
                    std::int64_t nodes) {
  double sum = 0;
  for (std::int64_t v = 0; v < nodes; ++v) {
    if (hidden[v] == 0) continue;
    switch (probe.type) {
      case Type::kScalar:
      case Type::kPointer:
      case Type::kShouldBePermutation:
      case Type::kPermutationPointer: sum += 1; break;
      case Type::kMaskOne: sum += 1 / static_cast<double>(nodes); break;
      case Type::kMask: sum += truth == nullptr || truth[v] != kMasked ? 1 : 0; break;
      case Type::kCategorical:
        sum += truth == nullptr || marked_class(truth + v * probe.classes, probe.classes) >= 0;
        break;
    }
  }
  return sum;
}

/// Adds what counts of one sample to `valid`.
struct Counter {
  const Batch& batch;
  const MaskOptions& options;
  const HintFeedback& feedback;
  const NoiseKey& key;
  const HintMasks& masks;
  std::uint8_t* hidden;                   // (rounds, parts)
  std::array<double, kMaxProbes>* valid;  // by round

  void count_sample(std::int64_t b) const {
    ForcingCoins coins(feedback.seed, key, b);
    bool reads_truth = true;  // in step 0
    for (std::int64_t step = 0; step + 1 < batch.lengths[static_cast<std::size_t>(b)]; ++step) {
      if (hidden_only()) masks.draw(feedback.seed, key, batch.task, b, step, hidden);
      for (std::size_t p = 0; p < batch.spec->size(); ++p) count_hint(p, step, b, reads_truth);
      reads_truth = coins.toss(step, feedback.teacher_forcing);
    }
  }

  bool hidden_only() const { return options.ratio > 0 && options.masking == Masking::kPaper; }

  void count_hint(std::size_t p, std::int64_t step, std::int64_t b, bool reads_truth) const {
    const Probe& probe = (*batch.spec)[p];
    if (probe.stage != Stage::kHint) return;
    const Real* truth = reads_truth ? batch.at(p, step, b) : nullptr;
    for (int j = 0; j < masks.rounds(); ++j) {
      if (!hidden_only()) {
        valid[j][p] += valid_all(probe, truth, batch.stride(p), batch.nodes,
                                 counts_predicted_rows(options.masking, feedback.soft));
      } else if (!masks.of(p).empty()) {
        const std::uint8_t* of_round = hidden + j * masks.parts() + masks.of(p).begin;
        valid[j][p] += valid_hidden(probe, truth, of_round, batch.nodes);
      }
    }
  }
};

/// 0 or 1 for each row of a categorical hint.
const Real* counted_rows_of(Tape& tape, const Recovered& r) {
  return counted_rows(tape, r.fed_in.reshaped(r.logits.shape),
                      {.all_truth = r.first_step,
                       .forced = r.forced,
                       .counts_predicted = counts_predicted_rows(r.masking, r.soft)});
}

}  // namespace

void ReconstructionScales::count(const Batch& batch, const MaskOptions& options, double weight,
                                 const HintFeedback& feedback, const NoiseKey& key) {
  const HintMasks masks(*batch.spec, batch.nodes, options);
  const auto rounds = static_cast<std::size_t>(masks.rounds());
  rounds_.resize(rounds);
  valid_.assign(rounds, {});
  hidden_.resize(rounds * static_cast<std::size_t>(masks.parts()));
  const Counter counter{batch, options, feedback, key, masks, hidden_.data(), valid_.data()};
  for (std::int64_t b = 0; b < batch.size; ++b) counter.count_sample(b);
  for (std::size_t j = 0; j < rounds; ++j) {
    for (std::size_t p = 0; p < kMaxProbes; ++p) {
      const double sum = valid_[j][p];
      rounds_[j][p] = sum > 0 ? static_cast<Real>(weight / sum) : Real{0};
    }
  }
}

void add_reconstruction_loss(Tape& tape, const Probe& probe, const Recovered& recovered,
                             const Real* scale, const LossSum& loss) {
  const Reconstructed r{recovered.logits, recovered.fed_in, recovered.hidden, recovered.counted};
  switch (probe.type) {
    case Type::kScalar: reconstruction_squares(tape, r, scale, loss); return;
    case Type::kMask: reconstruction_binary(tape, r, scale, loss); return;
    case Type::kMaskOne:
    case Type::kPointer:
    case Type::kShouldBePermutation:
      reconstruction_cross_entropy(tape, r, nullptr, scale, loss);
      return;
    case Type::kCategorical:
      reconstruction_cross_entropy(tape, r, counted_rows_of(tape, recovered), scale, loss);
      return;
    case Type::kPermutationPointer: reconstruction_likelihood(tape, r, scale, loss); return;
  }
}

}  // namespace renar
