// The one clock: for how long things took, and how long they will.
#pragma once

#include <chrono>

namespace renar {

/// Seconds on the steady clock, from a start that only differences cancel.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace renar
