#include "core/profile.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "core/check.h"
#include "core/clock.h"
#include "core/cuda.h"
#include "core/profiler.h"

namespace renar {
namespace {

#ifdef RENAR_CUDA
std::atomic<unsigned> listeners{kProfileNames};
#else
std::atomic<unsigned> listeners{0};
#endif

using Kind = ProfileMark::Kind;
using enum ProfilePhase;

/// What one thread has done.
struct Log {
  ProfileTrack track;
  ProfileScope root{"", nullptr, {}, {}};
  ProfileScope* current = &root;
  const ProfileScope* backward = nullptr;  // the range of the closure that runs, if one does
  KernelWork work;
  std::size_t collected = 0;  // marks whose `queue` is known
  GpuPace pace = GpuPace::kAsItComes;
  int until_held_up = 0;  // kernels
};

struct Logs {
  std::mutex mutex;
  std::vector<std::unique_ptr<Log>> all;  // never fewer: threads keep pointers to theirs
};

Logs& logs() {
  static Logs only;
  return only;
}

Log& my_log() {
  thread_local Log* const mine = [] {
    const std::lock_guard lock(logs().mutex);
    const int number = static_cast<int>(logs().all.size());
    auto log = std::make_unique<Log>();
    log->track = {message_of("thread {}", number), number, false, {}};
    return logs().all.emplace_back(std::move(log)).get();
  }();
  return *mine;
}

// Holds the GPU up before so many kernels for about as long as the host needs to queue them.
void stay_behind(Log& log) {
  constexpr int kKernels = 200;
  constexpr double kSecondsEach = 10e-6;
  if (log.pace != GpuPace::kBehind || log.until_held_up-- > 0) return;
  log.until_held_up = kKernels;
  cuda_hold_up(kKernels * kSecondsEach);
}

// Point 0 is the Profiler's begin, point i + 1 the i-th mark since the last collect().
void write_mark(Log& log, Kind kind, ProfilePhase phase, const ProfileScope* scope,
                const char* op) {
  if (!profile_wanted(kProfileTimes)) return;
  std::vector<ProfileMark>& marks = log.track.marks;
  if (kind == Kind::kCut) stay_behind(log);
  if (log.track.queues) cuda_queue_point(marks.size() - log.collected + 1);
  const double now = seconds_now();
  marks.push_back({kind, phase, scope, op, now, now, log.work});
}

/// The range `name` below `parent` among those that a thread has entered here before, or a new one.
ProfileScope& find_scope(std::vector<std::unique_ptr<ProfileScope>>& among, const char* name,
                         const ProfileScope* parent) {
  for (const auto& scope : among) {
    if (scope->name == name && scope->parent == parent) return *scope;
  }
  return *among.emplace_back(std::make_unique<ProfileScope>(
      ProfileScope{name, parent, std::string(name) + " (backward)", {}}));
}

ProfileScope* enter_scope(Log& log, ProfileScope& scope) {
  if (profile_wanted(kProfileNames)) nvtx_push(scope.name);
  write_mark(log, Kind::kEnter, kForward, &scope, nullptr);
  return std::exchange(log.current, &scope);
}

}  // namespace

bool profile_wanted(unsigned by) { return (listeners.load(std::memory_order_relaxed) & by) != 0; }

const ProfileScope* profile_scope() {
  if (!profile_wanted()) return nullptr;
  const Log& log = my_log();
  return log.current == &log.root ? nullptr : log.current;
}

void ProfileRange::enter(const char* name) {
  Log& log = my_log();
  const ProfileScope* parent = log.current == &log.root ? nullptr : log.current;
  outer_ = enter_scope(log, find_scope(log.current->inner, name, parent));
}

// A thread's ranges are changed by that thread alone: this one stands beside another thread's.
void ProfileRange::enter_beside(const ProfileScope& scope) {
  Log& log = my_log();
  outer_ = enter_scope(log, find_scope(log.root.inner, scope.name, scope.parent));
}

void ProfileRange::leave() {
  Log& log = my_log();
  log.current = outer_;
  write_mark(log, Kind::kLeave, kForward, nullptr, nullptr);
  if (profile_wanted(kProfileNames)) nvtx_pop();
}

void ProfileWorker::begin(const ProfileScope& range, int worker) {
  ProfileTrack& track = my_log().track;
  if (track.number != worker || !track.thread.starts_with("worker")) {
    track.thread = message_of("worker {}", worker);
    track.number = worker;
  }
  range_.enter_beside(range);
}

ProfilePlace mark_profile_op(const char* op) {
  const ProfileScope* scope = profile_scope();
  if (scope != nullptr) write_mark(my_log(), Kind::kOp, kForward, nullptr, op);
  return {op, scope};
}

void ProfileBackward::move(const ProfileScope* scope) {
  const bool names = profile_wanted(kProfileNames);
  if (scope_ != nullptr) {
    write_mark(my_log(), Kind::kLeave, kBackward, nullptr, nullptr);
    if (names) nvtx_pop();
  }
  scope_ = my_log().backward = scope;
  if (scope_ != nullptr) {
    if (names) nvtx_push(scope->backward_name.c_str());
    write_mark(my_log(), Kind::kEnter, kBackward, scope, nullptr);
  }
}

void ProfileBackward::mark(const char* op) {
  write_mark(my_log(), Kind::kOp, kBackward, nullptr, op);
}

ProfileHere profile_here() {
  if (!profile_wanted()) return {nullptr, kForward};
  const Log& log = my_log();
  if (log.backward != nullptr) return {log.backward, kBackward};
  return {profile_scope(), kForward};
}

ProfileElsewhere::ProfileElsewhere(const ProfileHere& there, const char* op)
    : there_(there), op_(op) {
  if (there.scope != nullptr) write_mark(my_log(), Kind::kCut, there.phase, nullptr, nullptr);
}

ProfileElsewhere::~ProfileElsewhere() {
  if (there_.scope != nullptr) write_mark(my_log(), Kind::kOp, there_.phase, there_.scope, op_);
}

void add_profile_work(const KernelWork& work) { my_log().work += work; }

std::string_view name_of(ProfilePhase phase) {
  switch (phase) {
    case kForward: return "forward";
    case kBackward: return "backward";
  }
  return "";
}

std::string path_of(const ProfileScope& scope) {
  return scope.parent == nullptr ? scope.name : path_of(*scope.parent) + "/" + scope.name;
}

Profiler::Profiler(Device device, GpuPace pace) : device_(device) {
  Log& mine = my_log();
  const std::lock_guard lock(logs().mutex);
  RENAR_CHECK(!profile_wanted(kProfileTimes), "[profiler] two profilers at once: one can listen");
  for (const auto& log : logs().all) {
    log->track.marks.clear();
    log->track.queues = false;
    log->collected = 0;
    log->pace = GpuPace::kAsItComes;
  }
  mine.track.thread = "main";
  mine.track.number = 0;
  if (device == Device::kCuda) {
    wait_for_all(device);  // the next point is passed at once
    cuda_queue_point(0);
    start_ = seconds_now();
    mine.track.queues = true;
    mine.pace = pace;
    mine.until_held_up = 0;
  }
  listeners.fetch_or(kProfileTimes);
}

Profiler::~Profiler() { listeners.fetch_and(~kProfileTimes); }

void Profiler::collect() {
  if (device_ != Device::kCuda) return;
  wait_for_all(device_);
  const std::lock_guard lock(logs().mutex);
  for (const auto& log : logs().all) {
    if (!log->track.queues) continue;
    std::vector<ProfileMark>& marks = log->track.marks;
    for (std::size_t i = log->collected; i < marks.size(); ++i) {
      marks[i].queue = start_ + cuda_seconds_between(0, i - log->collected + 1);
    }
    log->collected = marks.size();
  }
}

std::vector<ProfileTrack> Profiler::tracks() {
  collect();
  const std::lock_guard lock(logs().mutex);
  std::vector<ProfileTrack> found;
  for (const auto& log : logs().all) {
    if (!log->track.marks.empty()) found.push_back(log->track);
  }
  std::sort(found.begin(), found.end(),
            [](const ProfileTrack& a, const ProfileTrack& b) { return a.number < b.number; });
  return found;
}

}  // namespace renar
