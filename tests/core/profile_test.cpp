// Ranges, ops and threads as a Profiler hears them.
#include "core/profile.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/launch.h"
#include "core/parallel.h"
#include "core/profile_report.h"
#include "core/profiler.h"
#include "kernels/linear.h"
#include "kernels/pointwise.h"
#include "kernels/squared_error.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::profile_test {
namespace {

using enum ProfilePhase;
using Kind = ProfileMark::Kind;
using test::FreshTape;
using test::Numbers;

/// The op's name without the arguments of a template.
std::string function_of(const ProfileMark& mark) {
  const std::string name = mark.op;
  return name.substr(0, name.find('<'));
}

/// "enter outer", "op relu", "leave", a line each.
std::string texts(const ProfileTrack& track) {
  std::string all;
  for (const ProfileMark& mark : track.marks) {
    std::string text = mark.kind == Kind::kEnter ? "enter " + path_of(*mark.scope)
                       : mark.kind == Kind::kOp  ? "op " + function_of(mark)
                                                 : "leave";
    if (mark.phase == kBackward) text += " back";
    all += text + '\n';
  }
  return all;
}

const ProfileCell& cell_of(const std::vector<ProfileCell>& cells, const std::string& range,
                           const std::string& op, ProfilePhase phase = kForward) {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const ProfileCell& cell) {
    return cell.range == range && cell.op == op && cell.phase == phase;
  });
  CAPTURE(range);
  CAPTURE(op);
  REQUIRE(found != cells.end());
  return *found;
}

void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST_CASE("profile: ranges nest, and time belongs to the innermost one") {
  Profiler profiler(Device::kCpu);
  for (int i = 0; i < 2; ++i) {
    const ProfileRange outer("outer");
    wait_ms(2);
    {
      const ProfileRange inner("inner");
      wait_ms(5);
    }
    const ProfileRange inner("other");
  }
  const std::vector<ProfileTrack> tracks = profiler.tracks();
  REQUIRE(tracks.size() == 1);
  CHECK(tracks[0].thread == "main");
  const std::string once =
      "enter outer\nenter outer/inner\nleave\nenter outer/other\nleave\nleave\n";
  CHECK(texts(tracks[0]) == once + once);
  const std::vector<ProfileCell> cells = profile_cells(tracks);
  CHECK(cells.size() == 3);
  CHECK(cell_of(cells, "outer", "").calls == 2);
  CHECK(cell_of(cells, "outer", "").seconds >= 0.004);
  CHECK(cell_of(cells, "outer/inner", "").calls == 2);
  CHECK(cell_of(cells, "outer/inner", "").seconds >= 0.010);
  double sum = 0;
  for (const ProfileCell& cell : cells) {
    sum += cell.seconds;
    CHECK(cell.host_seconds == cell.seconds);
    CHECK(cell.work.launches == 0);
  }
  const auto& marks = tracks[0].marks;
  const double outside = marks[6].host - marks[5].host;
  CHECK(sum + outside == doctest::Approx(marks.back().host - marks.front().host));
}

TEST_CASE("profile: nothing is written down before and after a profiler, and one can listen") {
  { const ProfileRange range("before"); }
  {
    Profiler profiler(Device::kCpu);
    { const ProfileRange range("while"); }
    CHECK(profile_wanted(kProfileTimes));
    CHECK_THROWS_AS(Profiler(Device::kCpu), Error);
    REQUIRE(profiler.tracks().size() == 1);
    CHECK(texts(profiler.tracks()[0]) == "enter while\nleave\n");
  }
  CHECK(!profile_wanted(kProfileTimes));
  { const ProfileRange range("between"); }
  Profiler profiler(Device::kCpu);
  CHECK(profiler.tracks().empty());
}

TEST_CASE("profile: a range that began before the profiler, and one that outlives it") {
  std::vector<ProfileTrack> tracks;
  {
    auto early = std::make_unique<ProfileRange>("early");
    auto profiler = std::make_unique<Profiler>(Device::kCpu);
    early.reset();
    { const ProfileRange range("within"); }
    const ProfileRange late("late");
    tracks = profiler->tracks();
    profiler.reset();
  }
  REQUIRE(tracks.size() == 1);
  for (const ProfileCell& cell : profile_cells(tracks)) CHECK(cell.range != "early");
  CHECK(cell_of(profile_cells(tracks), "within", "").calls == 1);
  CHECK(profile_trace(tracks, 0, 1e9).find("within") != std::string::npos);
  CHECK(profile_scope() == nullptr);
}

TEST_CASE("profile: an exception ends the ranges that it leaves") {
  Profiler profiler(Device::kCpu);
  try {
    const ProfileRange outer("outer");
    const ProfileRange inner("inner");
    throw std::runtime_error("on purpose");
  } catch (const std::runtime_error&) {
  }
  CHECK(profile_scope() == nullptr);
  const ProfileRange next("next");
  CHECK(texts(profiler.tracks()[0]).ends_with("\nleave\nenter next\n"));
}

TEST_CASE("profile: workers stand in the range of the thread that they work for") {
  for (int repeat = 0; repeat < 2; ++repeat) {
    Profiler profiler(Device::kCpu);
    std::vector<int> workers(30);
    {
      const ProfileRange range("gradients");
      for_each_shard(30, 3, [&](int shard, int worker) {
        const ProfileRange inner("encode");
        workers[static_cast<std::size_t>(shard)] = worker;
        wait_ms(1);
      });
    }
    CHECK(profile_scope() == nullptr);
    const std::vector<ProfileTrack> tracks = profiler.tracks();
    const std::set<int> used(workers.begin(), workers.end());
    REQUIRE(tracks.size() == used.size() + (used.contains(0) ? 0 : 1));
    for (const ProfileTrack& track : tracks) {
      CHECK(track.thread ==
            (track.number == 0 ? std::string("main") : "worker " + std::to_string(track.number)));
    }
    const std::vector<ProfileCell> cells = profile_cells(tracks);
    CHECK(cells.size() == 2);
    CHECK(cell_of(cells, "gradients/encode", "").calls == 30);
    CHECK(cell_of(cells, "gradients/encode", "").seconds >= 0.030);
    CHECK(cell_of(cells, "gradients", "").calls == 1);
  }
}

struct Run {
  std::vector<ProfileTrack> tracks;
  std::vector<Real> grad;
};

// Two ranges with ops, a step's end between them, and backward.
Run run_ops(Device device, Tape::Mode mode) {
  const Numbers x = Numbers::random({8, 4}, 1), w = Numbers::random({4, 4}, 2);
  Run result;
  Profiler profiler(device);
  FreshTape fresh(mode, device);
  Tape& tape = fresh.tape;
  const auto put = [&](const Numbers& numbers) {
    const Tensor there = tape.output(numbers.shape(), true);
    copy_to_device(device, there.data, numbers.values().data(),
                   static_cast<std::size_t>(there.size()) * sizeof(Real));
    return there;
  };
  const Tensor in = put(x), weights = put(w);
  Real* loss = tape.array<Real>(1);
  fill_bytes(device, loss, 0, sizeof(Real));
  {
    const ProfileRange range("model");
    Tensor h = in;
    {
      const ProfileRange first("first");
      h = relu(tape, linear(tape, {{h, weights}}, {}));
    }
    {
      const ProfileRange second("second");
      h = linear(tape, {{h, weights}}, {});
      h = linear(tape, {{h, weights}}, {});
    }
    tape.end_step();
    if (mode == Tape::Mode::kRecord) tape.backward();
    wait_for_all(device);
  }
  profiler.collect();
  result.tracks = profiler.tracks();
  return result;
}

TEST_CASE("profile: an op needs no line of its own, forward and backward") {
  const Run run = run_ops(Device::kCpu, Tape::Mode::kRecord);
  REQUIRE(run.tracks.size() == 1);
  CHECK(texts(run.tracks[0]) == R"(enter model
enter model/first
op linear
op linear
op pointwise
leave
enter model/second
op linear
op linear
leave
op end_step
enter model back
op end_step back
leave back
enter model/second back
op linear back
op linear back
leave back
enter model/first back
op pointwise back
op linear back
op linear back
leave back
leave
)");  // what is left of the gradient of its weight is an op in the range of the first linear

  const std::vector<ProfileCell> cells = profile_cells(run.tracks);
  CHECK(cell_of(cells, "model/second", "linear").calls == 2);
  CHECK(cell_of(cells, "model/second", "linear", kBackward).calls == 2);
  CHECK(cell_of(cells, "model/first", "pointwise<Relu>", kBackward).calls == 1);

  const Run predicted = run_ops(Device::kCpu, Tape::Mode::kPredict);
  for (const ProfileCell& cell : profile_cells(predicted.tracks)) CHECK(cell.phase == kForward);
  CHECK(cell_of(profile_cells(predicted.tracks), "model/second", "linear").calls == 2);
}

TEST_CASE("profile: kernels that are collected count where they were asked for") {
  static std::string order;
  order.clear();
  struct Nothing {};
  static const CollectedKind kind{"kernels", [](const void*) {
                                    order += "started";
                                    count_launch();
                                  }};
  Profiler profiler(Device::kCpu);
  {
    const ProfileRange model("model");
    {
      const ProfileRange asks("asks");
      collect<Nothing>(kind, Touched(), [](const Nothing&, bool) { return true; });
    }
    const ProfileRange next("next");
    CHECK(order.empty());
    start_collected();
    start_collected();
  }
  CHECK(order == "started");
  const std::vector<ProfileCell> cells = profile_cells(profiler.tracks());
  CHECK(cells.size() == 4);
  CHECK(cell_of(cells, "model/asks", "kernels").calls == 1);
  CHECK(cell_of(cells, "model/asks", "kernels").work.launches == 1);
  CHECK(cell_of(cells, "model/next", "").work.launches == 0);
}

TEST_CASE("profile: what a launch touches counts once, however many kernels have joined it") {
  struct Nothing {};
  static const CollectedKind kind{"kernels", [](const void*) { count_launch(); }};
  double memory[10] = {};
  const auto collect_one = [&](const Touched& touched) {
    collect<Nothing>(kind, touched, [](const Nothing&, bool) { return true; });
  };
  Profiler profiler(Device::kCpu);
  {
    const ProfileRange model("model");
    collect_one(Touched().reads(memory, 4).reads(memory + 1, 2).writes(memory + 6, 1).computes(5));
    collect_one(Touched().reads(memory + 2, 3).writes(memory + 7, 2).computes(7));
    start_collected();
  }
  const ProfileCell cell = cell_of(profile_cells(profiler.tracks()), "model", "kernels");
  CHECK(cell.work.launches == 1);
  CHECK(cell.work.bytes == (5 + 3) * static_cast<std::int64_t>(sizeof(double)));
  CHECK(cell.work.flops == 12);
}

TEST_CASE("profile: an op outside of all ranges leaves no mark") {
  Profiler profiler(Device::kCpu);
  FreshTape fresh;
  Numbers x = Numbers::random({2, 2}, 1);
  relu(fresh.tape, x.tensor());
  fresh.tape.backward();
  CHECK(profiler.tracks().empty());
}

TEST_CASE("profile: launches are counted, and the queue's time is the kernels'") {
  const auto device = test::accelerator();
  if (!device) return;
  const Run run = run_ops(*device, Tape::Mode::kRecord);
  REQUIRE(run.tracks.size() == 1);
  CHECK(run.tracks[0].queues == (*device == Device::kCuda));
  const std::vector<ProfileCell> cells = profile_cells(run.tracks);
  CHECK(cell_of(cells, "model/first", "Forward<Relu>").work.launches == 1);
  CHECK(cell_of(cells, "model/first", "Backward<Relu>", kBackward).work.launches == 1);
  CHECK(cell_of(cells, "model/first", "products").work.launches == 1);
  CHECK(cell_of(cells, "model/second", "products").work.launches == 2);
  CHECK(cell_of(cells, "model/second", "products", kBackward).work.launches == 2);
  double seconds = 0;
  for (const ProfileCell& cell : cells) {
    CHECK(cell.seconds >= 0);
    CHECK((cell.op.empty() ? 0 : cell.work.launches) == cell.work.launches);
    seconds += cell.seconds;
  }
  const ProfileMark &first = run.tracks[0].marks.front(), &last = run.tracks[0].marks.back();
  CHECK(seconds == doctest::Approx(last.queue - first.queue));
  CHECK(last.queue >= first.host - 1e-3);  // on the same clock
}

}  // namespace
}  // namespace renar::profile_test
