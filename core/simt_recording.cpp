#include "core/simt_recording.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/check.h"
#include "core/lanes.h"
#include "core/simt.h"

namespace renar::simt {
namespace {

using Notes = std::vector<std::size_t>;

std::optional<Recording> current;  // the device has one queue, fed by one thread

/// What comes next in a lane follows these; the first is the queue.
std::array<Notes, kLanes> ends;
std::array<Notes, kMostLaunches> marks;
std::size_t entered = 0;

void add(const Notes& notes, Notes& to) { to.insert(to.end(), notes.begin(), notes.end()); }

std::int64_t count_of(const Recording& recording) {
  return static_cast<std::int64_t>(recording.size());
}

}  // namespace

void begin_recording() {
  current.emplace();
  ends[0].clear();
}

Recording end_recording() { return std::exchange(current, std::nullopt).value_or(Recording{}); }

bool is_recording() { return current.has_value(); }

void note(std::string given, std::function<void()> run) {
  Notes& end = ends[entered];
  current->push_back({std::move(given), std::move(run), std::exchange(end, {current->size()})});
}

void begin_lanes() {
  for (std::size_t lane = 1; lane < kLanes; ++lane) ends[lane] = ends[0];
}
void end_lanes() { entered = 0; }
void enter_lane(int lane) { entered = static_cast<std::size_t>(lane); }
void mark_note(std::size_t mark) { marks[mark] = ends[entered]; }
void wait_for_note(std::size_t mark) { add(marks[mark], ends[entered]); }
void join_lanes() {
  entered = 0;
  for (std::size_t lane = 1; lane < kLanes; ++lane) add(ends[lane], ends[0]);
}

void refuse_in_recording(const char* what) {
  RENAR_CHECK(!is_recording(), "[simt] to {} cannot be recorded", what);
}

void play(const Recording& recording) {
  std::vector<bool> over(recording.size(), false);
  const auto is_ready = [&](std::size_t i) {
    const Notes& after = recording[i].after;
    return !over[i] &&
           std::all_of(after.begin(), after.end(), [&](std::size_t j) { return over[j]; });
  };
  Notes ready;
  for (std::size_t first = 0; first < recording.size();) {
    // Lanes join after some launches: further on nothing is ready.
    constexpr std::size_t kFar = 128;
    ready.clear();
    for (std::size_t i = first; i < std::min(recording.size(), first + kFar); ++i) {
      if (is_ready(i)) ready.push_back(i);
    }
    const std::size_t next = ready[next_launch(ready.size())];
    recording[next].run();
    over[next] = true;
    while (first < recording.size() && over[first]) ++first;
  }
}

void check_same(const Recording& recording, const Recording& other) {
  const auto [here, there] = std::mismatch(
      recording.begin(), recording.end(), other.begin(), other.end(),
      [](const Queued& a, const Queued& b) { return a.given == b.given && a.after == b.after; });
  RENAR_CHECK(here == recording.end() && there == other.end(),
              "[simt] a recording of {} launches, copies and fills is played for work that has {}; "
              "they differ from number {} on in what they are given by value",
              count_of(recording), count_of(other), here - recording.begin());
}

}  // namespace renar::simt
