#include "nn/loss.h"

#include <algorithm>
#include <numeric>

#include "kernels/cross_entropy.h"
#include "kernels/mask_cross_entropy.h"
#include "kernels/squared_error.h"

namespace renar {

std::int64_t valid_elements(const Probe& probe, const Real* truth, std::int64_t count,
                            std::int64_t nodes) {
  const std::int64_t range = choices(probe, nodes);
  switch (probe.type) {
    case Type::kScalar:
    case Type::kPointer:
    case Type::kShouldBePermutation: return count;
    case Type::kPermutationPointer: return count / range;
    case Type::kMask: return count - std::count(truth, truth + count, kMasked);
    case Type::kMaskOne:
    case Type::kCategorical: {
      std::int64_t marked = 0;
      for (std::int64_t r = 0; r < count; r += range) marked += marked_class(truth + r, range) >= 0;
      return marked;
    }
  }
  return 0;
}

Losses& Losses::operator+=(const Losses& other) {
  for (std::size_t p = 0; p < probes.size(); ++p) probes[p] += other.probes[p];
  reconstruction += other.reconstruction;
  return *this;
}

double total(const Losses& losses) {
  return std::accumulate(losses.probes.begin(), losses.probes.end(), 0.0) + losses.reconstruction;
}

LossScales loss_scales(const Batch& batch) {
  LossScales scales{};
  for (std::size_t p = 0; p < batch.spec->size(); ++p) {
    const Probe& probe = (*batch.spec)[p];
    if (probe.stage == Stage::kInput) continue;
    std::int64_t valid = 0;
    for (std::int64_t b = 0; b < batch.size; ++b) {
      // A hint is compared in frames 1 .. length - 1, an output once.
      const bool hint = probe.stage == Stage::kHint;
      if (!hint && !batch.ends(b)) continue;
      const std::int64_t end = hint ? batch.lengths[static_cast<std::size_t>(b)] : 1;
      for (std::int64_t t = hint ? 1 : 0; t < end; ++t) {
        valid += valid_elements(probe, batch.at(p, t, b), batch.stride(p), batch.nodes);
      }
    }
    scales[p] = valid > 0 ? Real{1} / static_cast<Real>(valid) : Real{0};
  }
  return scales;
}

const LossScales* send_scales(Tape& tape, const LossScales* scales, std::int64_t count) {
  LossScales* here = tape.host_array<LossScales>(count);
  std::copy_n(scales, count, here);
  return tape.send<LossScales>(here, count);
}

ShardLosses::ShardLosses(Tape& tape, const Samples& samples, HintMode hints,
                         const LossScales* scales, Losses* losses)
    : tape_(tape),
      spec_(samples.spec()),
      scales_(scales == nullptr ? nullptr : send_scales(tape, scales, 1)) {
  if (losses == nullptr) return;
  truths_.emplace(tape, samples, hints);
  std::int64_t most = 0;  // numbers of a hint: no loss of its reconstruction has more elements
  for (std::size_t p = 0; p < spec_.size(); ++p) {
    const std::int64_t each = truths_->has(p) ? truths_->each(p) : 0;
    sums_[p] = {(*losses)[p], samples.size() * each};
    if (spec_[p].stage == Stage::kHint) most = std::max(most, samples.batch().stride(p));
  }
  sums_[spec_.size()] = {losses->reconstruction, samples.size() * most};
  open_sums(tape, sums_.data(), static_cast<std::int64_t>(spec_.size()) + 1);
}

void ShardLosses::stop_adding() {
  if (tape_.device() != Device::kCpu) return;
  for (LossSum& sum : sums_) sum.total = &unwanted_;
}

void ShardLosses::add(std::size_t p, std::int64_t frame, std::int64_t begin, Tensor logits) const {
  if (scales_ == nullptr) return;
  const std::int64_t end = begin + logits.dim(0);
  const Real* scale = scales_->data() + p;
  const auto numbers = [&] { return truths_->numbers(p, frame, begin, end); };
  const auto classes = [&] { return truths_->classes(p, frame, begin, end); };
  switch (spec_[p].type) {
    case Type::kScalar: squared_error(tape_, logits, numbers(), scale, sums_[p]); return;
    case Type::kMask: mask_cross_entropy(tape_, logits, numbers(), scale, sums_[p]); return;
    case Type::kMaskOne:
    case Type::kCategorical:
    case Type::kPointer:
    case Type::kShouldBePermutation:
      cross_entropy(tape_, logits, classes(), scale, sums_[p]);
      return;
    case Type::kPermutationPointer:
      negative_log_likelihood(tape_, logits, classes(), scale, sums_[p]);
      return;
  }
}

}  // namespace renar
