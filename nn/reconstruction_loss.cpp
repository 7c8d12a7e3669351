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
double valid(const Probe& probe, const Real* truth, std::int64_t count, std::int64_t nodes,
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

class Counter {
 public:
  Counter(const Batch& batch, const MaskOptions& options, const HintFeedback& feedback,
          const NoiseKey& key)
      : batch_(batch),
        options_(options),
        feedback_(feedback),
        key_(key),
        masks_(*batch.spec, batch.nodes, options),
        hidden_(static_cast<std::size_t>(masks_.rounds() * masks_.parts())),
        valid_(static_cast<std::size_t>(masks_.rounds())) {}

  ReconstructionScales scales(double weight) {
    for (std::int64_t b = 0; b < batch_.size; ++b) count_sample(b);
    ReconstructionScales scales(valid_.size());
    for (std::size_t j = 0; j < valid_.size(); ++j) {
      for (std::size_t p = 0; p < batch_.spec->size(); ++p) {
        const double sum = valid_[j][p];
        scales[j][p] = sum > 0 ? static_cast<Real>(weight / sum) : Real{0};
      }
    }
    return scales;
  }

 private:
  bool counts_hidden_only() const {
    return options_.ratio > 0 && options_.masking == Masking::kPaper;
  }

  void count_sample(std::int64_t b) {
    ForcingCoins coins(feedback_.seed, key_, b);
    bool reads_truth = true;  // in step 0
    for (std::int64_t step = 0; step + 1 < batch_.lengths[static_cast<std::size_t>(b)]; ++step) {
      if (counts_hidden_only()) {
        masks_.draw(feedback_.seed, key_, batch_.task, b, step, hidden_.data());
      }
      for (std::size_t p = 0; p < batch_.spec->size(); ++p) count_hint(p, step, b, reads_truth);
      reads_truth = tosses_coins(feedback_.teacher_forcing) ? coins.toss(feedback_.teacher_forcing)
                                                            : feedback_.teacher_forcing >= 1;
    }
  }

  void count_hint(std::size_t p, std::int64_t step, std::int64_t b, bool reads_truth) {
    const Probe& probe = (*batch_.spec)[p];
    if (probe.stage != Stage::kHint) return;
    const Real* truth = reads_truth ? batch_.at(p, step, b) : nullptr;
    for (std::size_t j = 0; j < valid_.size(); ++j) {
      if (!counts_hidden_only()) {
        valid_[j][p] += valid(probe, truth, batch_.stride(p), batch_.nodes,
                              counts_predicted_rows(options_.masking, feedback_.soft));
      } else if (!masks_.of(p).empty()) {
        const auto begin = static_cast<std::size_t>(static_cast<std::int64_t>(j) * masks_.parts() +
                                                    masks_.of(p).begin);
        valid_[j][p] += valid_hidden(probe, truth, hidden_.data() + begin, batch_.nodes);
      }
    }
  }

  const Batch& batch_;
  const MaskOptions& options_;
  const HintFeedback& feedback_;
  const NoiseKey& key_;
  HintMasks masks_;
  std::vector<std::uint8_t> hidden_;                   // (rounds, parts) of one sample and step
  std::vector<std::array<double, kMaxProbes>> valid_;  // by round
};

/// 0 or 1 for each row of a categorical hint.
const Real* counted_rows(Tape& tape, const Recovered& r) {
  const std::int64_t rows = r.logits.rows(), classes = r.logits.cols();
  const std::int64_t each = rows / r.logits.dim(0);
  Real* counted = tape.array<Real>(rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool truth = r.first_step || (r.forced != nullptr && r.forced[row / each] != 0);
    const bool counts = truth ? marked_class(r.fed_in.data + row * classes, classes) >= 0
                              : counts_predicted_rows(r.masking, r.soft);
    counted[row] = counts ? Real{1} : Real{0};
  }
  return counted;
}

}  // namespace

ReconstructionScales reconstruction_scales(const Batch& batch, const MaskOptions& masks,
                                           double weight, const HintFeedback& feedback,
                                           const NoiseKey& key) {
  return Counter(batch, masks, feedback, key).scales(weight);
}

void add_reconstruction_loss(Tape& tape, const Probe& probe, const Recovered& recovered, Real scale,
                             double& loss) {
  const Reconstructed r{recovered.logits, recovered.fed_in, recovered.hidden};
  switch (probe.type) {
    case Type::kScalar: reconstruction_squares(tape, r, scale, loss); return;
    case Type::kMask: reconstruction_binary(tape, r, scale, loss); return;
    case Type::kMaskOne:
    case Type::kPointer:
    case Type::kShouldBePermutation:
      reconstruction_cross_entropy(tape, r, nullptr, scale, loss);
      return;
    case Type::kCategorical:
      reconstruction_cross_entropy(tape, r, counted_rows(tape, recovered), scale, loss);
      return;
    case Type::kPermutationPointer: reconstruction_likelihood(tape, r, scale, loss); return;
  }
}

}  // namespace renar
