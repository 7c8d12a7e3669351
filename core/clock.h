// The one clock: for how long things took, and how long they will.
#pragma once

#include <chrono>

namespace renar {

/// Seconds on the steady clock, from an arbitrary start: only differences mean something.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace renar
