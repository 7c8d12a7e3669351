// What a round of M-ReNAR hides from the encoder: the hint-level masking of the paper (section 4.2)
// and that of its authors' code (docs/model.md 9).
//
// With ratio beta there are m rounds; each hides its own choice of a state's parts by setting them
// to zero.
//   paper     m = floor(1/beta). A part is a (node, hint) pair: for a pointer or a categorical hint
//             the node's row. Of the k |V| pairs of k node-level hints exactly floor(beta k |V|).
//   authors   m = min(floor(1/beta), 3). A part is one number of a node-level hint or input, each
//             hidden with probability beta.
// Edge and graph data are never hidden: where a spec has nothing else, one round reads all of it.
// The choice is keyed as nn/noise_key.h says.
#pragma once

#include <array>

#include "core/rng.h"
#include "nn/batch.h"
#include "nn/encoder.h"
#include "nn/noise_key.h"

namespace renar {

enum class Masking { kPaper, kAuthors };

constexpr double kLeastMaskRatio = 0.001;  ///< of those that hide something: 1000 rounds

struct MaskOptions {
  Masking masking = Masking::kPaper;
  double ratio = 0;  ///< beta: 0, nothing is hidden, or in [kLeastMaskRatio, 1)
  int rounds = 0;    ///< m, if something is hidden; 0: by the rule above
};

/// m, and 1 where nothing is hidden. Throws renar::Error for a ratio that is none.
int rounds_of(const MaskOptions& options);

class HintMasks {
 public:
  /// Throws as rounds_of.
  HintMasks(const Spec& spec, std::int64_t nodes, const MaskOptions& options);

  /// m, and 1 where no probe of the spec can be hidden.
  int rounds() const { return rounds_; }
  /// Parts that can be hidden in one sample.
  std::int64_t parts() const { return parts_; }

  /// The numbers that those are.
  std::int64_t numbers() const { return numbers_; }

  /// The parts of one probe are [begin, end), each of `width` numbers, of which there are `number`
  /// before them. Empty: it is never hidden.
  struct Range {
    std::int64_t begin = 0, end = 0, width = 1, number = 0;
    bool empty() const { return begin == end; }
  };
  const Range& of(std::size_t probe) const { return ranges_[probe]; }

  /// Fills `hidden`, (rounds, parts), with 1 where a part is hidden in this sample and time step.
  /// `sample` is its place in the batch. Throws renar::Error if the key has fixed masks of another
  /// batch.
  void draw(std::uint64_t seed, const NoiseKey& key, int task, std::int64_t sample,
            std::int64_t step, std::uint8_t* hidden) const;

 private:
  void choose(CounterRng& rng, std::uint8_t* hidden) const;
  void copy_fixed(const NoiseKey& key, std::int64_t sample, std::uint8_t* hidden) const;

  MaskOptions options_;
  int rounds_;
  std::size_t probes_;
  std::int64_t parts_ = 0, numbers_ = 0;
  std::array<Range, kMaxProbes> ranges_{};
};

/// What is hidden from the samples [0, batch) of a shard in one time step.
class ShardMasks {
 public:
  ShardMasks(Tape& tape, const HintMasks& masks, std::uint64_t seed, const NoiseKey& key,
             const Samples& samples, std::int64_t batch, std::int64_t step);

  /// 1 where hidden, as many numbers as `probe` has in `batch` samples; absent where it never is.
  Tensor of(int round, std::size_t probe) const;

 private:
  void put_down(std::size_t probes, int round, std::int64_t sample,
                const std::uint8_t* hidden) const;

  const HintMasks& masks_;
  std::int64_t batch_;
  // By round, within it by probe, (B, parts, width): so each is a tensor and all are sent as one.
  Tensor hidden_;
};

}  // namespace renar
