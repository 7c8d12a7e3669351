#include "algos/training_stream.h"

#include <limits>
#include <string>
#include <utility>

#include "algos/dataset.h"
#include "algos/pipeline.h"
#include "core/check.h"

namespace renar {
namespace {

constexpr int kValidationBatch = 32;   // the peer's, whatever the training batch
constexpr int kValidationBatches = 2;  // times the multiplier
constexpr int kWarmUpSamples = 1000;   // the peer's sampler measures trace lengths on them
constexpr std::uint32_t kStateMark = 0x52535401;  // "RST" and the version of the layout
constexpr std::size_t kStateHead = 4;             // mark, number of samplers, drawn (low, high)

}  // namespace

std::uint32_t derived_seed(std::uint64_t seed, std::string_view purpose) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : purpose) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  std::uint64_t z = seed * 0x9e3779b97f4a7c15u + hash;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

TrainingStream::TrainingStream(const Algorithm& algorithm, StreamConfig config)
    : algorithm_(&algorithm),
      config_(std::move(config)),
      params_(config_.params.value_or(algorithm.training)),
      positions_(0) {
  RENAR_USAGE(!config_.lengths.empty() && config_.batch_size >= 1,
              "training needs a length and a batch size, got {} lengths and batches of {}",
              config_.lengths.size(), config_.batch_size);
  for (const int length : config_.lengths) {
    RENAR_USAGE(length >= 1, "a training length of {}, give at least 1", length);
  }
  RENAR_USAGE(config_.val_length >= 1, "a validation length of {}, give at least 1",
              config_.val_length);
  switch (config_.order) {
    case DataOrder::kOwn: start_own(); break;
    case DataOrder::kClrs: start_clrs(); break;
  }
  if (config_.random_positions) {
    NumpyRandom random(derived_seed(config_.seed, algorithm.name + "/validation_positions"));
    randomize_positions(validation_, random);
  }
  if (config_.order == DataOrder::kClrs) draw_peer_positions(1);  // the model's set-up
}

void TrainingStream::start_own() {
  const auto seed = [&](const std::string& purpose) {
    return derived_seed(config_.seed, algorithm_->name + "/" + purpose);
  };
  for (std::size_t i = 0; i < config_.lengths.size(); ++i) {
    samplers_.emplace_back(seed("train/" + std::to_string(i)));
  }
  positions_ = NumpyRandom(seed("positions"));
  validation_ = make_dataset(*algorithm_, config_.val_length,
                             kValidationBatches * kValidationBatch * algorithm_->multiplier,
                             seed("validation"), params_);
}

void TrainingStream::start_clrs() {
  RENAR_USAGE(config_.seed <= std::numeric_limits<std::uint32_t>::max(),
              "the seed {} of the data stream clrs is not below 2^32", config_.seed);
  positions_ = NumpyRandom(static_cast<std::uint32_t>(config_.seed));
  positions_.next_word();  // randint(2**32), the model's key
  for (const int length : config_.lengths) {
    NumpyRandom& sampler = samplers_.emplace_back(positions_.next_word());
    for (int i = 0; i < kWarmUpSamples; ++i) algorithm_->sample(sampler, length, params_);
  }
  validation_ = make_dataset(*algorithm_, config_.val_length,
                             kValidationBatches * kValidationBatch * algorithm_->multiplier,
                             positions_.next_word(), params_);
}

TraceBatch TrainingStream::next() {
  const std::size_t turn = drawn_++ % config_.lengths.size();
  TraceBatch batch = sample_batch(*algorithm_, samplers_[turn], config_.lengths[turn],
                                  config_.batch_size, params_);
  if (config_.random_positions) randomize_positions(batch, positions_);
  return batch;
}

void TrainingStream::note_evaluation() {
  switch (config_.order) {
    case DataOrder::kOwn: break;
    case DataOrder::kClrs: draw_peer_positions(kValidationBatches * algorithm_->multiplier); break;
  }
}

/// The positions of the peer's validation batches, which come from the generator of the training
/// positions.
void TrainingStream::draw_peer_positions(int batches) {
  if (!config_.random_positions) return;
  const int draws = batches * kValidationBatch * validation_.nodes;
  for (int i = 0; i < draws; ++i) positions_.random_sample();
}

std::vector<std::uint32_t> TrainingStream::state() const {
  std::vector<std::uint32_t> state = {kStateMark, static_cast<std::uint32_t>(samplers_.size()),
                                      static_cast<std::uint32_t>(drawn_),
                                      static_cast<std::uint32_t>(drawn_ >> 32)};
  const auto append = [&](const NumpyRandom& random) {
    const std::vector<std::uint32_t> words = random.state();
    state.insert(state.end(), words.begin(), words.end());
  };
  append(positions_);
  for (const NumpyRandom& sampler : samplers_) append(sampler);
  return state;
}

void TrainingStream::restore(std::span<const std::uint32_t> state) {
  const std::size_t expected = kStateHead + NumpyRandom::kStateWords * (1 + samplers_.size());
  RENAR_CHECK(state.size() == expected && state[0] == kStateMark && state[1] == samplers_.size(),
              "[training_stream] {} words are not the state of a stream of {} lengths ({} words)",
              state.size(), samplers_.size(), expected);
  NumpyRandom positions = positions_;
  std::vector<NumpyRandom> samplers = samplers_;
  std::span<const std::uint32_t> rest = state.subspan(kStateHead);
  const auto take = [&](NumpyRandom& random) {
    random.set_state(rest.first(NumpyRandom::kStateWords));
    rest = rest.subspan(NumpyRandom::kStateWords);
  };
  take(positions);
  for (NumpyRandom& sampler : samplers) take(sampler);
  positions_ = positions;
  samplers_ = std::move(samplers);
  drawn_ = std::uint64_t{state[3]} << 32 | state[2];
}

}  // namespace renar
