// Where training batches come from: whole trajectories in their turns, or chunks of them
// (trainer/chunk_source.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algos/training_stream.h"
#include "nn/net.h"

namespace renar {

class TrainingBatches {
 public:
  virtual ~TrainingBatches() = default;
  /// Fills `batch`, whose memory is reused, with the next one. Throws what a sampler throws.
  virtual void next(Batch& batch) = 0;
  /// The whole state: restore() goes on from there, bit for bit. Throws renar::Error on a foreign
  /// one.
  virtual std::vector<std::uint32_t> state() const = 0;
  virtual void restore(std::span<const std::uint32_t> state) = 0;
  /// state() as it was before the last next(), which may have come ahead of its use.
  virtual std::vector<std::uint32_t> state_before_last() const = 0;
};

/// The stream's batches as they come.
class WholeTrajectories final : public TrainingBatches {
 public:
  /// Both outlive it.
  WholeTrajectories(TrainingStream& stream, const Net& net) : stream_(stream), net_(net) {}

  void next(Batch& batch) override;
  std::vector<std::uint32_t> state() const override { return stream_.state(); }
  void restore(std::span<const std::uint32_t> state) override { stream_.restore(state); }
  std::vector<std::uint32_t> state_before_last() const override {
    return stream_.state_before_last();
  }

 private:
  TrainingStream& stream_;
  const Net& net_;
};

}  // namespace renar
