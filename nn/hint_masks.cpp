#include "nn/hint_masks.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace renar {
namespace {

constexpr int kAuthorsMostRounds = 3;
constexpr double kRoundingOfRatios = 1e-9;  // 0.29 * 100 is 28.999.. and means 29

std::int64_t floor_of(double x) {
  return static_cast<std::int64_t>(std::floor(x + kRoundingOfRatios));
}

/// How many numbers of a node-located probe belong to one node, as the encoder reads them.
std::int64_t numbers_per_node(const Probe& probe, std::int64_t nodes) {
  return probe.type == Type::kMaskOne ? 1 : choices(probe, nodes);
}

}  // namespace

int rounds_of(const MaskOptions& options) {
  if (options.ratio == 0) return 1;
  RENAR_CHECK(options.ratio >= kLeastMaskRatio && options.ratio < 1,
              "[hint_masks] the ratio {} is neither 0 nor in [{}, 1)", options.ratio,
              kLeastMaskRatio);
  if (options.rounds > 0) return options.rounds;
  const int most = static_cast<int>(floor_of(1 / options.ratio));
  return options.masking == Masking::kAuthors ? std::min(most, kAuthorsMostRounds) : most;
}

HintMasks::HintMasks(const Spec& spec, std::int64_t nodes, const MaskOptions& options)
    : options_(options), rounds_(rounds_of(options)), probes_(spec.size()) {
  for (std::size_t p = 0; p < spec.size() && options.ratio > 0; ++p) {
    const Probe& probe = spec[p];
    const bool hint = probe.stage == Stage::kHint;
    const bool input = probe.stage == Stage::kInput && options.masking == Masking::kAuthors;
    if (probe.location != Location::kNode || (!hint && !input)) continue;
    const std::int64_t each = numbers_per_node(probe, nodes);
    const bool whole_rows = options.masking == Masking::kPaper;
    ranges_[p] = {parts_, parts_ + (whole_rows ? nodes : nodes * each), whole_rows ? each : 1,
                  numbers_};
    parts_ = ranges_[p].end;
    numbers_ += nodes * each;
  }
  if (parts_ == 0) rounds_ = 1;
}

void HintMasks::draw(std::uint64_t seed, const NoiseKey& key, int task, std::int64_t sample,
                     std::int64_t step, std::uint8_t* hidden) const {
  if (key.masks != nullptr) return copy_fixed(key, sample, hidden);
  const auto part = [](std::int64_t number) { return static_cast<std::uint32_t>(number); };
  CounterRng rng(derived_seed(seed, Purpose::kHintMasks, part(key.update), part(sample)),
                 Purpose::kHintMasks, part(step), part(task));
  for (int round = 0; round < rounds_; ++round) choose(rng, hidden + round * parts_);
}

void HintMasks::choose(CounterRng& rng, std::uint8_t* hidden) const {
  constexpr double kTwo32 = 4294967296.0;
  if (options_.masking == Masking::kAuthors) {
    const auto below = static_cast<std::uint64_t>(options_.ratio * kTwo32);
    std::generate_n(hidden, parts_, [&] { return rng.next() < below ? 1 : 0; });
    return;
  }
  // Selection sampling: of `left` parts `wanted` are still to be hidden, each as likely as another.
  std::int64_t wanted = floor_of(options_.ratio * static_cast<double>(parts_));
  for (std::int64_t i = 0; i < parts_; ++i) {
    const auto left = static_cast<std::uint64_t>(parts_ - i);
    hidden[i] = (rng.next() * left >> 32) < static_cast<std::uint64_t>(wanted) ? 1 : 0;
    wanted -= hidden[i];
  }
}

void HintMasks::copy_fixed(const NoiseKey& key, std::int64_t sample, std::uint8_t* hidden) const {
  for (int round = 0; round < rounds_; ++round) {
    for (std::size_t p = 0; p < probes_; ++p) {
      const Range& range = ranges_[p];
      if (range.empty()) continue;
      const std::vector<Real>& mask = key.masks->at(static_cast<std::size_t>(round)).at(p);
      const std::int64_t count = (range.end - range.begin) * range.width;
      RENAR_CHECK(static_cast<std::int64_t>(mask.size()) >= (sample + 1) * count,
                  "[hint_masks] a fixed mask has {} numbers, sample {} needs {} more", mask.size(),
                  sample, count);
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        const std::int64_t at = sample * count + (i - range.begin) * range.width;
        hidden[round * parts_ + i] = mask[static_cast<std::size_t>(at)] != 0 ? 1 : 0;
      }
    }
  }
}

ShardMasks::ShardMasks(Tape& tape, const HintMasks& masks, std::uint64_t seed, const NoiseKey& key,
                       const Samples& samples, std::int64_t batch, std::int64_t step)
    : masks_(masks), batch_(batch) {
  hidden_ = tape.host_constant({masks.rounds(), batch * masks.numbers()});
  auto* hidden = tape.host_array<std::uint8_t>(masks.rounds() * masks.parts());
  for (std::int64_t k = 0; k < batch; ++k) {
    masks.draw(seed, key, samples.batch().task, samples.index(k), step, hidden);
    for (int round = 0; round < masks.rounds(); ++round) {
      put_down(samples.spec().size(), round, k, hidden + round * masks.parts());
    }
  }
  hidden_ = tape.send(hidden_);
}

void ShardMasks::put_down(std::size_t probes, int round, std::int64_t sample,
                          const std::uint8_t* hidden) const {
  for (std::size_t p = 0; p < probes; ++p) {
    const HintMasks::Range& range = masks_.of(p);
    const Tensor mask = of(round, p);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t part = sample * (range.end - range.begin) + i - range.begin;
      std::fill_n(mask.data + part * range.width, range.width, static_cast<Real>(hidden[i]));
    }
  }
}

Tensor ShardMasks::of(int round, std::size_t probe) const {
  const HintMasks::Range& range = masks_.of(probe);
  if (range.empty()) return {};
  Real* of_round = hidden_.data + round * batch_ * masks_.numbers();
  return {
      of_round + batch_ * range.number, nullptr, {batch_, range.end - range.begin, range.width}};
}

}  // namespace renar
