// The next training batch, made on a thread of its own while the current one is trained on, so that
// training never waits for data. The batches, and what a checkpoint holds of the generators, are
// those of a run without it.
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include "trainer/training_batches.h"

namespace renar {

class BatchAhead {
 public:
  /// The source outlives it; nobody else moves it or its stream while a batch is on its way.
  explicit BatchAhead(TrainingBatches& source) : source_(source) {}
  ~BatchAhead();
  BatchAhead(const BatchAhead&) = delete;
  BatchAhead& operator=(const BatchAhead&) = delete;

  /// Begins the next batch; nothing if one is on its way or waiting.
  void start();
  /// The next batch, valid until the next take(). Throws what its sampler threw.
  const Batch& take();

  /// The source's state as one sees it who has taken what was taken and no more.
  std::vector<std::uint32_t> state();
  /// Seconds that take() has waited in all.
  double waited() const { return waited_; }

 private:
  TrainingBatches& source_;
  Batch current_, next_;
  std::future<void> coming_;  // valid: `next_` is being filled or full
  double waited_ = 0;
};

}  // namespace renar
