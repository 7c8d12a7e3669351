#include "trainer/batch_ahead.h"

#include <utility>

#include "core/clock.h"
#include "core/profile.h"

namespace renar {

BatchAhead::~BatchAhead() {
  if (coming_.valid()) coming_.wait();
}

void BatchAhead::start() {
  if (coming_.valid()) return;
  coming_ = std::async(std::launch::async, [this] { source_.next(next_); });
}

const Batch& BatchAhead::take() {
  const ProfileRange range("wait for data");
  start();
  const double begin = seconds_now();
  coming_.get();
  waited_ += seconds_now() - begin;
  std::swap(current_, next_);
  return current_;
}

std::vector<std::uint32_t> BatchAhead::state() {
  if (!coming_.valid()) return source_.state();
  coming_.wait();
  return source_.state_before_last();
}

}  // namespace renar
