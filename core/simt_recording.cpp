#include "core/simt_recording.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/check.h"

namespace renar::simt {
namespace {

std::optional<Recording> current;  // the device has one queue, fed by one thread

std::int64_t count_of(const Recording& recording) {
  return static_cast<std::int64_t>(recording.size());
}

}  // namespace

void begin_recording() { current.emplace(); }

Recording end_recording() { return std::exchange(current, std::nullopt).value_or(Recording{}); }

bool is_recording() { return current.has_value(); }

void note(std::string given, std::function<void()> run) {
  current->push_back({std::move(given), std::move(run)});
}

void refuse_in_recording(const char* what) {
  RENAR_CHECK(!is_recording(), "[simt] to {} cannot be recorded", what);
}

void play(const Recording& recording) {
  for (const Queued& queued : recording) queued.run();
}

void check_same(const Recording& recording, const Recording& other) {
  const auto [here, there] =
      std::mismatch(recording.begin(), recording.end(), other.begin(), other.end(),
                    [](const Queued& a, const Queued& b) { return a.given == b.given; });
  RENAR_CHECK(here == recording.end() && there == other.end(),
              "[simt] a recording of {} launches, copies and fills is played for work that has {}; "
              "they differ from number {} on in what they are given by value",
              count_of(recording), count_of(other), here - recording.begin());
}

}  // namespace renar::simt
