#include "algos/training_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "algos/dataset.h"
#include "core/check.h"
#include "core/text.h"

namespace renar {
namespace {

constexpr int kValidationBatch = 32;   // the peer's, whatever the training batch
constexpr int kValidationBatches = 2;  // times the multiplier
constexpr int kWarmUpSamples = 1000;   // the peer's sampler measures trace lengths on them
constexpr std::uint32_t kStateMark = 0x52535402;  // "RST" and the version of the layout
constexpr std::size_t kStateHead = 4;             // mark, number of generators, drawn (low, high)

std::vector<std::uint32_t> state_of(const std::vector<NumpyRandom>& generators,
                                    std::uint64_t drawn) {
  std::vector<std::uint32_t> state = {kStateMark, static_cast<std::uint32_t>(generators.size()),
                                      static_cast<std::uint32_t>(drawn),
                                      static_cast<std::uint32_t>(drawn >> 32)};
  for (const NumpyRandom& random : generators) {
    const std::vector<std::uint32_t> words = random.state();
    state.insert(state.end(), words.begin(), words.end());
  }
  return state;
}

}  // namespace

std::vector<int> training_lengths(const Algorithm& algorithm, const std::vector<int>& lengths) {
  if (algorithm.category != Category::kStrings || lengths.empty()) return lengths;
  return {*std::max_element(lengths.begin(), lengths.end()) * 5 / 4};
}

std::uint32_t derived_seed(std::uint64_t seed, std::string_view purpose) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15u + fnv1a(purpose);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

TrainingStream::TrainingStream(const std::vector<const Algorithm*>& algorithms, StreamConfig config)
    : config_(std::move(config)) {
  RENAR_USAGE(
      !algorithms.empty() && !config_.lengths.empty() && config_.batch_size >= 1,
      "training needs an algorithm, a length and a batch size, got {} algorithms, {} lengths "
      "and batches of {}",
      algorithms.size(), config_.lengths.size(), config_.batch_size);
  for (const int length : config_.lengths) {
    RENAR_USAGE(length >= 1, "a training length of {}, give at least 1", length);
  }
  RENAR_USAGE(config_.val_length >= 0 && config_.val_samples >= 0,
              "a validation set of {} samples of length {}, give positive numbers",
              config_.val_samples, config_.val_length);
  for (const Algorithm* algorithm : algorithms) {
    Source source{algorithm, algorithm->training, training_lengths(*algorithm, config_.lengths)};
    if (!config_.p.empty()) source.params.p = config_.p;
    if (config_.length_needle) source.params.length_needle = *config_.length_needle;
    sources_.push_back(std::move(source));
  }
  if (config_.order == DataOrder::kClrs) {
    generators_.emplace_back(config_.seed);
    generators_[0].next_word();  // randint(2**32), the model's key
  }
  for (Source& source : sources_) {
    try {
      switch (config_.order) {
        case DataOrder::kOwn: start_own(source); break;
        case DataOrder::kClrs: start_clrs(source); break;
      }
    } catch (const Error& problem) {
      throw UsageError(
          message_of("training data of {}: {}", source.algorithm->name, problem.what()));
    }
    NumpyRandom positions(
        derived_seed(config_.seed, source.algorithm->name + "/validation_positions"));
    apply(config_.pipeline, *source.algorithm, source.validation, positions);
  }
  for (const Source& source : sources_) draw_peer_positions(source, 1);  // the model's set-up
}

int TrainingStream::val_length(const Source& source) const {
  if (config_.val_length > 0) return config_.val_length;
  return *std::max_element(source.lengths.begin(), source.lengths.end());
}

int TrainingStream::val_samples(const Source& source) const {
  if (config_.val_samples > 0) return config_.val_samples;
  return kValidationBatches * kValidationBatch * source.algorithm->multiplier;
}

void TrainingStream::start_own(Source& source) {
  const auto seed = [&](const std::string& purpose) {
    return derived_seed(config_.seed, source.algorithm->name + "/" + purpose);
  };
  source.positions = generators_.size();
  generators_.emplace_back(seed("positions"));
  source.samplers = generators_.size();
  for (std::size_t i = 0; i < source.lengths.size(); ++i) {
    NumpyRandom first = generators_.emplace_back(seed("train/" + std::to_string(i)));
    source.algorithm->sample(first, source.lengths[i], source.params);  // throws where it cannot
  }
  source.validation = make_dataset(*source.algorithm, val_length(source), val_samples(source),
                                   seed("validation"), source.params);
}

void TrainingStream::start_clrs(Source& source) {
  source.positions = 0;
  source.samplers = generators_.size();
  for (const int length : source.lengths) {
    const std::uint32_t seed = generators_[0].next_word();
    NumpyRandom& sampler = generators_.emplace_back(seed);
    for (int i = 0; i < kWarmUpSamples; ++i) {
      source.algorithm->sample(sampler, length, source.params);
    }
  }
  source.validation = make_dataset(*source.algorithm, val_length(source), val_samples(source),
                                   generators_[0].next_word(), source.params);
}

TraceBatch TrainingStream::make(const Source& source, std::size_t length, NumpyRandom& sampler,
                                NumpyRandom& positions) const {
  TraceBatch batch = sample_batch(*source.algorithm, sampler, source.lengths[length],
                                  config_.batch_size, source.params);
  apply(config_.pipeline, *source.algorithm, batch, positions);
  return batch;
}

TraceBatch TrainingStream::next() {
  const std::size_t algorithm = drawn_ % sources_.size();
  const Source& source = sources_[algorithm];
  const std::size_t turn = drawn_ / sources_.size() % source.lengths.size();
  const std::size_t sampler = source.samplers + turn;
  moved_ = {{sampler, generators_[sampler]}, {source.positions, generators_[source.positions]}};
  ++drawn_;
  return draw(algorithm, turn);
}

TraceBatch TrainingStream::draw(std::size_t algorithm, std::size_t length) {
  const Source& source = sources_[algorithm];
  return make(source, length, generators_[source.samplers + length], generators_[source.positions]);
}

std::vector<std::uint32_t> TrainingStream::draw_state(std::size_t algorithm,
                                                      std::size_t length) const {
  const Source& source = sources_[algorithm];
  std::vector<std::uint32_t> words = generators_[source.samplers + length].state();
  const std::vector<std::uint32_t> positions = generators_[source.positions].state();
  words.insert(words.end(), positions.begin(), positions.end());
  return words;
}

TraceBatch TrainingStream::draw_again(std::size_t algorithm, std::size_t length,
                                      std::span<const std::uint32_t> state) const {
  RENAR_CHECK(state.size() == kDrawStateWords, "[training_stream] a draw of {} words, expected {}",
              state.size(), kDrawStateWords);
  NumpyRandom sampler(0), positions(0);
  sampler.set_state(state.first(NumpyRandom::kStateWords));
  positions.set_state(state.subspan(NumpyRandom::kStateWords));
  return make(sources_[algorithm], length, sampler, positions);
}

void TrainingStream::note_evaluation() {
  for (const Source& source : sources_) {
    draw_peer_positions(source, kValidationBatches * source.algorithm->multiplier);
  }
}

/// The positions of the peer's validation batches, which come from the generator of the training
/// positions.
void TrainingStream::draw_peer_positions(const Source& source, int batches) {
  if (config_.order != DataOrder::kClrs || !config_.pipeline.random_positions) return;
  const int draws = batches * kValidationBatch * source.validation.nodes;
  for (int i = 0; i < draws; ++i) generators_[source.positions].random_sample();
}

std::vector<std::uint32_t> TrainingStream::state() const { return state_of(generators_, drawn_); }

std::vector<std::uint32_t> TrainingStream::state_before_last() const {
  RENAR_CHECK(!moved_.empty(), "[training_stream] {} batches drawn: there is no last one", drawn_);
  std::vector<NumpyRandom> generators = generators_;
  for (const Moved& moved : moved_) generators[moved.generator] = moved.before;
  return state_of(generators, drawn_ - 1);
}

void TrainingStream::restore(std::span<const std::uint32_t> state) {
  const std::size_t expected = kStateHead + NumpyRandom::kStateWords * generators_.size();
  RENAR_CHECK(
      state.size() == expected && state[0] == kStateMark && state[1] == generators_.size(),
      "[training_stream] {} words are not the state of a stream of {} generators ({} words)",
      state.size(), generators_.size(), expected);
  std::vector<NumpyRandom> generators = generators_;
  std::span<const std::uint32_t> rest = state.subspan(kStateHead);
  for (NumpyRandom& random : generators) {
    random.set_state(rest.first(NumpyRandom::kStateWords));
    rest = rest.subspan(NumpyRandom::kStateWords);
  }
  generators_ = std::move(generators);
  drawn_ = std::uint64_t{state[3]} << 32 | state[2];
  moved_.clear();
}

}  // namespace renar
