#include "trainer/batch_ahead.h"

#include <utility>

#include "core/clock.h"
#include "trainer/batch.h"

namespace renar {

BatchAhead::~BatchAhead() {
  if (coming_.valid()) coming_.wait();
}

void BatchAhead::start() {
  if (coming_.valid()) return;
  coming_ = std::async(std::launch::async, [this] {
    const int task = static_cast<int>(stream_.drawn() % net_.tasks().size());
    fill_batch(net_.spec(task), stream_.next(), next_);
    next_.task = task;
  });
}

const Batch& BatchAhead::take() {
  start();
  const double begin = seconds_now();
  coming_.get();
  waited_ += seconds_now() - begin;
  std::swap(current_, next_);
  return current_;
}

std::vector<std::uint32_t> BatchAhead::state() {
  if (!coming_.valid()) return stream_.state();
  coming_.wait();
  return stream_.state_before_last();
}

}  // namespace renar
