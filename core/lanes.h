// Which launches of a recording run beside each other.
//
// A GPU plays a graph by what each launch has to wait for. Recorded from one stream that is always
// the launch before, though three of ten could run beside another (docs/profiling.md), and most are
// too small to fill a GPU. So while a recording is made (core/launch_graphs.h), what was collected
// goes to some streams, lanes, where a launch waits for the last of its lane and for those of other
// lanes that touch what it touches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace renar {

constexpr int kLanes = 8;

/// Launches as bits, the first the lowest.
using LaunchSet = std::uint64_t;
constexpr std::size_t kMostLaunches = 64;
constexpr LaunchSet only_launch(std::size_t launch) { return LaunchSet{1} << launch; }

/// Where a launch goes, and the launches of other lanes that it has to wait for.
struct LanePlace {
  int lane;
  LaunchSet waits_for;
};

/// How many lanes recordings have: kLanes, or what the environment's RENAR_LANES says. With 1 a
/// graph's launches follow each other, with 0 nothing is recorded: to be measured against, and a
/// way out. Throws UsageError where that is no such number.
int recording_lanes();
/// What RENAR_LANES says; null: nothing.
int lanes_from(const char* text);

/// For launches 0, 1, .. in this order, at most kMostLaunches, of which launch i must not start
/// before those of follows[i], all lower than i, have ended. It waits for no more than that, and
/// for the last launch of its lane, which is one that it follows; else the lane is the one that was
/// entered longest ago.
std::vector<LanePlace> plan_lanes(std::span<const LaunchSet> follows, int lanes = kLanes);

}  // namespace renar
