// lanes: launches wait for what they need, for nothing twice, and else run beside each other.
#include "core/lanes.h"

#include <doctest/doctest.h>

#include <random>

#include "core/check.h"

namespace renar::lanes_test {
namespace {

/// What has ended, by lanes and waits, before each launch starts. In lane order: a lane's last
/// launch is the one before it there.
std::vector<LaunchSet> ended_before(const std::vector<LanePlace>& plan) {
  std::vector<LaunchSet> before(plan.size(), 0);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto take = [&](std::size_t j) { before[i] |= before[j] | only_launch(j); };
    for (std::size_t j = 0; j < i; ++j) {
      const bool waits = (plan[i].waits_for & only_launch(j)) != 0;
      if (waits || plan[j].lane == plan[i].lane) take(j);
    }
  }
  return before;
}

TEST_CASE("lanes: a chain stays in its lane and waits for nothing else") {
  const std::vector<LaunchSet> follows{0, 0b1, 0b11, 0b100};
  const std::vector<LanePlace> plan = plan_lanes(follows);
  REQUIRE(plan.size() == 4);
  for (const LanePlace& place : plan) {
    CHECK(place.lane == plan[0].lane);
    CHECK(place.waits_for == 0);
  }
}

TEST_CASE("lanes: as many as are wanted, and with one nothing is waited for") {
  CHECK(lanes_from(nullptr) == kLanes);
  CHECK(lanes_from("0") == 0);
  CHECK(lanes_from("8") == 8);
  for (const char* wrong : {"", "9", "-1", "1x", " 1", "two"}) {
    CHECK_THROWS_AS(lanes_from(wrong), UsageError);
  }
  const std::vector<LaunchSet> follows{0, 0, 0b1, 0, 0b1111};
  for (const LanePlace& place : plan_lanes(follows, 1)) {
    CHECK(place.lane == 0);
    CHECK(place.waits_for == 0);
  }
  for (const LanePlace& place : plan_lanes(follows, 2)) CHECK(place.lane < 2);
}

TEST_CASE("lanes: what needs nothing runs beside it; a launch that needs all waits once for each") {
  const std::vector<LaunchSet> follows{0, 0, 0b1, 0b10, 0b1111};
  const std::vector<LanePlace> plan = plan_lanes(follows);
  CHECK(plan[0].lane != plan[1].lane);
  CHECK(plan[2].lane == plan[0].lane);
  CHECK(plan[3].lane == plan[1].lane);
  CHECK(plan[4].lane == plan[3].lane);
  CHECK(plan[4].waits_for == 0b100);
}

TEST_CASE("lanes: with more than there are, one goes on where least was started of late") {
  const std::vector<LaunchSet> follows(kLanes + 2, 0);
  const std::vector<LanePlace> plan = plan_lanes(follows);
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < i; ++j) {
      CHECK(plan[static_cast<std::size_t>(i)].lane != plan[static_cast<std::size_t>(j)].lane);
    }
  }
  CHECK(plan[kLanes].lane == plan[0].lane);
  CHECK(plan[kLanes + 1].lane == plan[1].lane);
  for (const LanePlace& place : plan) CHECK(place.waits_for == 0);
}

TEST_CASE("lanes: no launch starts before one that it follows, none is waited for in vain") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 1 + random() % 64;
    const unsigned one_of = 1 + static_cast<unsigned>(random() % 40);
    std::vector<LaunchSet> follows(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (random() % one_of == 0) follows[i] |= only_launch(j);
      }
    }
    const std::vector<LanePlace> plan = plan_lanes(follows);
    REQUIRE(plan.size() == count);
    const std::vector<LaunchSet> ended = ended_before(plan);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK((follows[i] & ~ended[i]) == 0);
      CHECK((plan[i].waits_for & ~follows[i]) == 0);
      for (std::size_t j = 0; j < i; ++j) {
        if ((plan[i].waits_for & only_launch(j)) == 0) continue;
        std::vector<LanePlace> without = plan;
        without[i].waits_for &= ~only_launch(j);
        CHECK((ended_before(without)[i] & only_launch(j)) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace renar::lanes_test
