// What a Profiler has heard, for people and for Perfetto.
//
// Every moment that a thread spends in a range belongs to one op, or to the range itself where no
// op ends: the shares of the table add up to 100 %. Threads are added up. On a GPU the times are
// those of its queue, its waits for the next kernel included, and the host's stand beside them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/profiler.h"

namespace renar {

/// What one op took in one range and phase.
struct ProfileCell {
  std::string range;   // its path
  std::string op;      // empty: the range's own time, calls are how often it was entered
  ProfilePhase phase;  // backward: the closures of what ran forward in that range
  std::int64_t calls = 0;
  double seconds = 0;
  double host_seconds = 0;  // the same unless on a GPU
  KernelWork work = {};
};

/// All of them, in the order in which they were first met.
std::vector<ProfileCell> profile_cells(std::span<const ProfileTrack> tracks);

/// Three tables: by op and phase, the longest first; by range, each with all that is in it; by op,
/// phase and range. A range's calls are those forward, of all threads.
std::string profile_text(std::span<const ProfileTrack> tracks);

/// Chrome's trace events, as Perfetto reads them, of what began from `from` to before `to`, seconds
/// on the clock of core/clock.h. A GPU's queue is a track beside the threads.
std::string profile_trace(std::span<const ProfileTrack> tracks, double from, double to);

}  // namespace renar
