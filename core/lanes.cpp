#include "core/lanes.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/check.h"

namespace renar {
namespace {

constexpr int kNone = -1;

/// The last launch of each lane.
using Lasts = std::array<int, kLanes>;

bool has(LaunchSet set, int launch) {
  return launch != kNone && (set >> launch & LaunchSet{1}) != 0;
}

// The lane whose last launch is the latest of those that are needed; else the one whose last launch
// is the oldest.
int lane_for(LaunchSet needed, const Lasts& last, int lanes) {
  int goes_on = kNone, idle = 0;
  const auto of = [&](int lane) { return last[static_cast<std::size_t>(lane)]; };
  for (int lane = 0; lane < lanes; ++lane) {
    const bool is_needed = has(needed, of(lane));
    if (is_needed && (goes_on == kNone || of(lane) > of(goes_on))) goes_on = lane;
    if (of(lane) < of(idle)) idle = lane;
  }
  return goes_on == kNone ? idle : goes_on;
}

}  // namespace

int lanes_from(const char* text) {
  if (text == nullptr) return kLanes;
  const std::string_view digits = text;
  int number = -1;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  RENAR_USAGE(error == std::errc() && end == digits.end() && number >= 0 && number <= kLanes,
              "RENAR_LANES={} is not a number of lanes, 0 to {}", digits, kLanes);
  return number;
}

int recording_lanes() {
  static const int lanes = lanes_from(std::getenv("RENAR_LANES"));
  return lanes;
}

std::vector<LanePlace> plan_lanes(std::span<const LaunchSet> follows, int lanes) {
  std::vector<LanePlace> plan;
  std::vector<LaunchSet> over;  // those that have ended when each launch has
  Lasts last;
  last.fill(kNone);
  for (std::size_t i = 0; i < follows.size(); ++i) {
    const int lane = lane_for(follows[i], last, lanes);
    int& before = last[static_cast<std::size_t>(lane)];
    LaunchSet ended = before == kNone ? 0 : over[static_cast<std::size_t>(before)];
    LanePlace& place = plan.emplace_back(LanePlace{lane, 0});
    // From the latest: what it had to wait for need not be waited for again.
    for (LaunchSet missing = follows[i] & ~ended; missing != 0; missing = follows[i] & ~ended) {
      const auto latest = static_cast<std::size_t>(std::bit_width(missing) - 1);
      place.waits_for |= only_launch(latest);
      ended |= over[latest];
    }
    over.push_back(ended | only_launch(i));
    before = static_cast<int>(i);
  }
  return plan;
}

}  // namespace renar
