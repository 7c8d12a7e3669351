// The training batches of one algorithm in their order, and the validation set beside them.
//
// Training lengths take turns, one generator each; a batch is the next samples of its generator,
// with random positions. Two orders:
//
//   own   Every generator has its own seed, derived from the run's seed by what it is for:
//         derived_seed(seed, "dfs/train/0") for the first length, then dfs/train/1 and so on,
//         dfs/positions, dfs/validation, dfs/validation_positions. Evaluating more often changes
//         no training batch.
//   clrs  The order of the field's example run, for comparisons. One RandomState(seed) draws a
//         model key, the seeds of the samplers and all positions, so each evaluation moves it on;
//         each sampler throws its first 1000 samples away.
//
// The validation set is made once and evaluated whole, in order. (The peer draws it with
// replacement each time, from the validation sampler's own generator, which nothing else reads.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "algos/registry.h"
#include "algos/trace_batch.h"
#include "core/numpy_random.h"

namespace renar {

enum class DataOrder { kOwn, kClrs };

struct StreamConfig {
  DataOrder order = DataOrder::kOwn;
  std::uint64_t seed = 42;                        // below 2^32 for kClrs
  std::vector<int> lengths = {4, 7, 11, 13, 16};  // of training, in turn
  int val_length = 16;
  int batch_size = 32;
  bool random_positions = true;
  std::optional<SamplerParams> params = {};  // default: the algorithm's training parameters
};

/// A generator's seed, from a run's seed and the generator's purpose: the upper half of
/// splitmix64's finaliser over seed * 0x9e3779b97f4a7c15 + FNV-1a of the purpose, all in 64 bits.
std::uint32_t derived_seed(std::uint64_t seed, std::string_view purpose);

class TrainingStream {
 public:
  /// Makes the validation set; for kClrs also the 1000 samples a length that the peer throws away.
  /// Throws renar::UsageError if the configuration cannot be served.
  TrainingStream(const Algorithm& algorithm, StreamConfig config);

  /// The next training batch.
  TraceBatch next();

  /// To be called at each evaluation: in the clrs order it makes the draws that the peer makes.
  void note_evaluation();

  /// 2 * multiplier * 32 samples at val_length.
  const TraceBatch& validation() const { return validation_; }

  /// The number of batches drawn so far.
  std::uint64_t drawn() const { return drawn_; }

  /// The whole state, about 600 words a generator; restore() makes a stream of the same algorithm
  /// and configuration go on from there, bit for bit. Throws renar::Error on a foreign state.
  std::vector<std::uint32_t> state() const;
  void restore(std::span<const std::uint32_t> state);

 private:
  void start_own();
  void start_clrs();
  void draw_peer_positions(int batches);

  const Algorithm* algorithm_;
  StreamConfig config_;
  SamplerParams params_;
  std::vector<NumpyRandom> samplers_;  // one a length
  NumpyRandom positions_;              // in the clrs order it also seeds the samplers
  TraceBatch validation_;
  std::uint64_t drawn_ = 0;
};

}  // namespace renar
