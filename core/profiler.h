// Listens to the ranges and ops of core/profile.h: marks in, tracks out. profile_report.h reads
// them.
//
// A thread writes its marks into a log of its own. On a GPU each mark also queues an event, whose
// time is read in collect(), when the work before it has been waited for anyway: measuring waits
// for nothing in between.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/profile.h"

namespace renar {

struct ProfileScope {
  const char* name;
  const ProfileScope* parent;  // null: an outermost range
  std::string backward_name;   // for NVTX
  std::vector<std::unique_ptr<ProfileScope>> inner;
};

/// "gradients/processor/messages"
std::string path_of(const ProfileScope& scope);

enum class ProfilePhase { kForward, kBackward };
/// "forward" or "backward".
std::string_view name_of(ProfilePhase phase);

struct ProfileMark {
  /// A range's begin or end; an op's end; a point before which nothing belongs to the next op.
  enum class Kind { kEnter, kLeave, kOp, kCut };

  Kind kind;
  ProfilePhase phase;
  const ProfileScope* scope;  // of kEnter; of a kOp that belongs to another range than it is in
  const char* op;             // of kOp
  double host;                // seconds_now()
  double queue;               // when the GPU got there, on the same clock; elsewhere as `host`
  KernelWork work;            // of the thread, so far
};

/// Where a thread is.
struct ProfileHere {
  const ProfileScope* scope;  // null: in no range, or nobody listens
  ProfilePhase phase;
};
ProfileHere profile_here();

/// While it lives what runs is an op of another range: kernels that are started later than the op
/// that asked for them (core/collected.h).
class ProfileElsewhere {
 public:
  ProfileElsewhere(const ProfileHere& there, const char* op);
  ~ProfileElsewhere();
  ProfileElsewhere(const ProfileElsewhere&) = delete;
  ProfileElsewhere& operator=(const ProfileElsewhere&) = delete;

 private:
  ProfileHere there_;
  const char* op_;
};

/// The marks of a thread in their order.
struct ProfileTrack {
  std::string thread;  // "main", "worker 1", ..
  int number;          // main 0, worker 1 1, ..
  bool queues;         // work for a GPU: `queue` says when it was done
  std::vector<ProfileMark> marks;
};

/// How fast a GPU is fed while marks are made of it. Two events and a launch take the host longer
/// than most kernels run, so a GPU that gets them as they come waits in between, and its times are
/// the host's. It is behind where it is held up now and then, between kernels: then a kernel's time
/// is its own and what starting it costs the GPU.
enum class GpuPace { kAsItComes, kBehind };

class Profiler {
 public:
  /// Begins to listen. The calling thread is "main" and the one that queues work for `device`.
  /// Throws renar::Error where another one listens.
  explicit Profiler(Device device, GpuPace pace = GpuPace::kAsItComes);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// After every update: reads the GPU's times so far. No other thread is in a range then.
  void collect();
  /// All tracks that have marks; the last collect() included.
  std::vector<ProfileTrack> tracks();

 private:
  Device device_;
  double start_ = 0;  // when the GPU passed point 0
};

}  // namespace renar
