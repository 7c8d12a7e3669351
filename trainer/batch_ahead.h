// The next training batch, made on a thread of its own while the current one is trained on, so that
// training never waits for data. The batches, and what a checkpoint holds of the generators, are
// those of a run without it.
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include "algos/training_stream.h"
#include "nn/net.h"

namespace renar {

class BatchAhead {
 public:
  /// Both outlive it; nobody else moves the stream while a batch is on its way.
  BatchAhead(TrainingStream& stream, const Net& net) : stream_(stream), net_(net) {}
  ~BatchAhead();
  BatchAhead(const BatchAhead&) = delete;
  BatchAhead& operator=(const BatchAhead&) = delete;

  /// Begins the next batch; nothing if one is on its way or waiting.
  void start();
  /// The next batch, valid until the next take(). Throws what its sampler threw.
  const Batch& take();

  /// The stream's state as one sees it who has taken what was taken and no more.
  std::vector<std::uint32_t> state();
  /// Seconds that take() has waited in all.
  double waited() const { return waited_; }

 private:
  TrainingStream& stream_;
  const Net& net_;
  Batch current_, next_;
  std::future<void> coming_;  // valid: `next_` is being filled or full
  double waited_ = 0;
};

}  // namespace renar
