#include "core/collected.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/check.h"
#include "core/cuda.h"
#include "core/lanes.h"
#include "core/profiler.h"
#ifndef RENAR_CUDA
#include "core/simt.h"
#include "core/simt_touched.h"
#endif

namespace renar {
namespace {

/// What a launch reads, or writes. Most that is asked for lies outside of the hull, and the asking
/// is what the host pays for an op.
class Stretches {
 public:
  void clear() {
    all_.clear();
    hull_ = {};
  }
  void add(const Stretch& stretch) {
    hull_ = all_.empty()
                ? stretch
                : Stretch{std::min(hull_.begin, stretch.begin), std::max(hull_.end, stretch.end)};
    all_.push_back(stretch);
  }
  bool meets(const Stretch& theirs) const {
    return hull_.meets(theirs) && std::any_of(all_.begin(), all_.end(), [&](const Stretch& mine) {
             return mine.meets(theirs);
           });
  }
  const std::vector<Stretch>& all() const { return all_; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<Stretch> all_;
  Stretch hull_;
};

/// A launch to be.
struct Waiting {
  const CollectedKind* kind;
  ProfileHere asked;  // the range that asked for it
  Stretches reads, writes;
  std::int64_t flops;
  alignas(64) std::byte given[kMostGiven];
};

/// Those that wait, in the order in which they will start. Where they are too many the first half
/// starts, so that what comes next always finds the last kMostLaunches to join: a time step and
/// more. With more of them few others would be joined: what is far apart needs what lies between.
constexpr std::size_t kMostWaiting = 2 * kMostLaunches;
struct Queue {
  std::array<Waiting, kMostWaiting> places;
  std::array<Waiting*, kMostWaiting> waiting;  // the first `count` of them
  std::size_t count = 0;

  Queue() {
    for (std::size_t i = 0; i < kMostWaiting; ++i) waiting[i] = &places[i];
  }
};
/// Launches that are started together, in their order.
using Group = std::span<Waiting* const>;
// A device has one queue, fed by one thread.
Queue& queue() {
  static Queue only;
  return only;
}

template <class Some>
bool any_meets(const Some& some, const Stretches& others) {
  return std::any_of(some.begin(), some.end(),
                     [&](const Stretch& mine) { return others.meets(mine); });
}

// Whether the one reads what the other writes.
template <class One>
bool needs(const One& reads, const One& writes, const Waiting& other) {
  return any_meets(reads, other.writes) || any_meets(writes, other.reads);
}

// Whether the one must not start before the other has: it came later.
template <class One>
bool must_follow(const One& reads, const One& writes, const Waiting& other) {
  return needs(reads, writes, other) || any_meets(writes, other.writes);
}

void start_first(Queue& q, std::size_t count);

Waiting& add_last(Queue& q, const CollectedKind& kind) {
  if (q.count == kMostWaiting) start_first(q, kMostLaunches);
  Waiting& w = *q.waiting[q.count++];
  w.kind = &kind;
  w.asked = profile_here();
  w.reads.clear();
  w.writes.clear();
  w.flops = 0;
  return w;
}

void add_touched(Waiting& w, const Touched& touched) {
  for (const Stretch& stretch : touched.reads()) w.reads.add(stretch);
  for (const Stretch& stretch : touched.writes()) w.writes.add(stretch);
  w.flops += touched.flops();
}

// What lies in several stretches counts once.
std::int64_t bytes_of(std::vector<Stretch> stretches) {
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  std::int64_t bytes = 0;
  const char* end = nullptr;
  for (const Stretch& stretch : stretches) {
    const char* begin = end == nullptr ? stretch.begin : std::max(end, stretch.begin);
    if (begin < stretch.end) bytes += stretch.end - begin;
    end = std::max(end, stretch.end);
  }
  return bytes;
}

void start(Waiting& w) {
  const ProfileElsewhere profile(w.asked, w.kind->name);
  if (profile_wanted(kProfileTimes)) {
    count_work(bytes_of(w.reads.all()) + bytes_of(w.writes.all()), w.flops);
  }
  const auto run = [&w] { w.kind->start(w.given); };
#ifndef RENAR_CUDA
  if (simt::watches_touched() && !is_recording()) {
    return simt::run_watched(w.kind->name, w.reads.all(), w.writes.all(), run);
  }
#endif
  run();
}

// Of each launch, which of those before it must have ended.
using Follows = std::array<LaunchSet, kMostLaunches>;
Follows follows_of(Group group) {
  Follows follows = {};
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Waiting& w = *group[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (must_follow(w.reads, w.writes, *group[j])) follows[i] |= only_launch(j);
    }
  }
  return follows;
}

void record(Group group) {
  const Follows follows = follows_of(group);
  const std::vector<LanePlace> plan = plan_lanes({follows.data(), group.size()}, recording_lanes());
  CudaLanes lanes;
  for (std::size_t i = 0; i < group.size(); ++i) {
    lanes.enter(plan[i].lane);
    for (std::size_t j = 0; j < i; ++j) {
      if ((plan[i].waits_for & only_launch(j)) != 0) lanes.wait_for(j);
    }
    start(*group[i]);
    lanes.mark(i);
  }
  lanes.join();
}

void start(Group group) {
  if (is_recording() && group.size() > 1 && recording_lanes() > 1) return record(group);
#ifdef RENAR_CUDA
  for (Waiting* w : group) start(*w);
#else
  // Each order that is possible by what the kernels say they touch must give the same numbers:
  // which is taken is the schedule's choice.
  const Follows follows = follows_of(group);
  std::vector<std::size_t> ready;
  LaunchSet started = 0;
  for (std::size_t left = group.size(); left > 0; --left) {
    ready.clear();
    for (std::size_t i = 0; i < group.size(); ++i) {
      if ((started & only_launch(i)) == 0 && (follows[i] & ~started) == 0) ready.push_back(i);
    }
    const std::size_t next = ready[simt::next_launch(ready.size())];
    started |= only_launch(next);
    start(*group[next]);
  }
#endif
}

void start_first(Queue& q, std::size_t count) {
  const auto first = q.waiting.begin();
  try {
    start(Group(first, count));
  } catch (...) {
    forget_collected();  // what was to follow would find wrong numbers
    throw;
  }
  std::rotate(first, first + static_cast<std::ptrdiff_t>(count),
              first + static_cast<std::ptrdiff_t>(q.count));
  q.count -= count;
}

}  // namespace

void Touched::put(const Stretch& stretch, Stretches& to, std::size_t& number) {
  RENAR_CHECK(number < kMost, "[collected] a kernel with more than {} arrays", kMost);
  to[number++] = stretch;
}

CollectedPlace find_collected(const CollectedKind& kind, const Touched& touched, MayJoin may_join,
                              const void* of) {
  Queue& q = queue();
  Waiting* place = nullptr;
  for (std::size_t i = q.count; i-- > 0;) {
    Waiting& w = *q.waiting[i];
    if (needs(touched.reads(), touched.writes(), w)) break;
    const bool meets = any_meets(touched.writes(), w.writes);
    if (w.kind == &kind && may_join(w.given, meets, of)) place = &w;
    if (meets) break;
  }
  const bool is_new = place == nullptr;
  if (is_new) place = &add_last(q, kind);
  add_touched(*place, touched);
  return {place->given, is_new};
}

void* add_collected(const CollectedKind& kind, const Touched& touched) {
  Queue& q = queue();
  Waiting& w = add_last(q, kind);
  add_touched(w, touched);
  return w.given;
}

void last_collected_reads(const Stretch& stretch) {
  if (launches_are_left_out()) return;  // it was not collected
  Queue& q = queue();
  q.waiting[q.count - 1]->reads.add(stretch);
}

void* find_last_needed(const CollectedKind& kind, const Touched& touched, MayEnd may_end,
                       const void* of) {
  Queue& q = queue();
  for (std::size_t i = q.count; i-- > 0;) {
    Waiting& w = *q.waiting[i];
    if (!must_follow(touched.reads(), touched.writes(), w)) continue;
    if (w.kind != &kind || !may_end(w.given, of)) return nullptr;
    add_touched(w, touched);
    return w.given;
  }
  return nullptr;
}

void start_collected() {
  Queue& q = queue();
  while (q.count > 0) start_first(q, std::min(q.count, kMostLaunches));
}

void forget_collected() { queue().count = 0; }

}  // namespace renar
