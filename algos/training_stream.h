// The training batches of one or several algorithms in their order, through the pipeline, and the
// validation sets beside them.
//
// Several algorithms take turns, a batch each. An algorithm's training lengths take turns too, one
// generator each; a batch is the next samples of its generator. Two orders of random numbers:
//
//   own   Every generator has its own seed, derived from the run's seed by what it is for:
//         derived_seed(seed, "dfs/train/0") for the first length, then dfs/train/1 and so on,
//         dfs/positions, dfs/validation, dfs/validation_positions. Evaluating more often or
//         training on a second algorithm changes no training batch of the first.
//   clrs  The order of the field's example run, for comparisons. One RandomState(seed) draws a
//         model key, the seeds of the samplers and all positions, so each evaluation moves it on;
//         each sampler throws its first 1000 samples away.
//
// A validation set is made once and evaluated whole, in order. (The peer draws it with
// replacement each time, from the validation sampler's own generator, which nothing else reads.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algos/pipeline.h"
#include "algos/registry.h"
#include "algos/trace_batch.h"
#include "core/numpy_random.h"

namespace renar {

enum class DataOrder { kOwn, kClrs };

struct StreamConfig {
  DataOrder order = DataOrder::kOwn;
  std::uint32_t seed = 42;
  std::vector<int> lengths = {4, 7, 11, 13, 16};  // of training, see training_lengths
  int val_length = 0;                             // 0: an algorithm's longest training length
  int val_samples = 0;                            // 0: 2 * 32 * the algorithm's multiplier
  int batch_size = 32;
  Pipeline pipeline = {};
  std::vector<double> p = {};             // edge probabilities; empty: the algorithm's own
  std::optional<int> length_needle = {};  // default: the algorithm's own
};

/// The lengths that an algorithm trains on when these are asked for. The string matchers have one
/// only, 5/4 of the longest: their variety is in the needle. A run's other algorithms keep theirs.
std::vector<int> training_lengths(const Algorithm& algorithm, const std::vector<int>& lengths);

/// A generator's seed, from a run's seed and the generator's purpose: the upper half of
/// splitmix64's finaliser over seed * 0x9e3779b97f4a7c15 + FNV-1a of the purpose, all in 64 bits.
std::uint32_t derived_seed(std::uint64_t seed, std::string_view purpose);

class TrainingStream {
 public:
  /// Makes the validation sets; for kClrs also the 1000 samples a length that the peer throws away.
  /// Throws renar::UsageError if the configuration cannot be served, a length by its sampler, too.
  TrainingStream(const std::vector<const Algorithm*>& algorithms, StreamConfig config);
  TrainingStream(const Algorithm& algorithm, StreamConfig config)
      : TrainingStream(std::vector<const Algorithm*>{&algorithm}, std::move(config)) {}

  /// The next training batch, of the algorithm number (batches drawn before) mod (algorithms).
  TraceBatch next();

  /// The next batch of one algorithm and one of its lengths out of turn, and the state of the two
  /// generators that it depends on. (next() and its count of batches do not know of it.)
  TraceBatch draw(std::size_t algorithm, std::size_t length);
  std::vector<std::uint32_t> draw_state(std::size_t algorithm, std::size_t length) const;
  /// The batch that draw() made from there; the stream does not move. Throws renar::Error on a
  /// foreign state.
  TraceBatch draw_again(std::size_t algorithm, std::size_t length,
                        std::span<const std::uint32_t> state) const;
  static constexpr std::size_t kDrawStateWords = 2 * NumpyRandom::kStateWords;

  /// To be called at each evaluation of all algorithms: in the clrs order it makes the draws that
  /// the peer makes.
  void note_evaluation();

  const TraceBatch& validation(std::size_t algorithm = 0) const {
    return sources_[algorithm].validation;
  }

  std::size_t algorithms() const { return sources_.size(); }
  std::size_t lengths(std::size_t algorithm) const { return sources_[algorithm].lengths.size(); }
  int batch_size() const { return config_.batch_size; }
  /// With which an algorithm's training and validation are sampled.
  const SamplerParams& params(std::size_t algorithm) const { return sources_[algorithm].params; }

  /// The number of batches drawn so far, each in its turn.
  std::uint64_t drawn() const { return drawn_; }

  /// The whole state, about 600 words a generator; restore() makes a stream of the same algorithms
  /// and configuration go on from there, bit for bit. Throws renar::Error on a foreign state.
  std::vector<std::uint32_t> state() const;
  void restore(std::span<const std::uint32_t> state);

  /// state() as it was before the last next(), which may have been drawn ahead of its use. Only
  /// right if next() was the last thing that moved the stream.
  std::vector<std::uint32_t> state_before_last() const;

 private:
  /// One algorithm's share.
  struct Source {
    const Algorithm* algorithm;
    SamplerParams params;
    std::vector<int> lengths;
    std::size_t positions = 0;  // in generators_
    std::size_t samplers = 0;   // in generators_: the first of one a length
    TraceBatch validation = {};
  };

  TraceBatch make(const Source& source, std::size_t length, NumpyRandom& sampler,
                  NumpyRandom& positions) const;
  void start_own(Source& source);
  void start_clrs(Source& source);
  void draw_peer_positions(const Source& source, int batches);
  int val_length(const Source& source) const;
  int val_samples(const Source& source) const;

  StreamConfig config_;
  std::vector<Source> sources_;
  std::vector<NumpyRandom> generators_;  // in the clrs order the first seeds the others
  std::uint64_t drawn_ = 0;

  struct Moved {
    std::size_t generator;
    NumpyRandom before;
  };
  std::vector<Moved> moved_;  // by the last next()
};

}  // namespace renar
