// Where the time goes: ranges, named as docs/model.md names the parts of the model, and the ops in
// them.
//
//   const ProfileRange range("messages");  // a literal; until the end of the block
//
// Ranges nest: a range's place is the names on the way to it, gradients/processor/messages. An op
// needs no line. It ends in Tape::record, and its time is what has passed since the mark before: an
// op's end, a range's begin or end. An op that records nothing, as it has no gradient, counts to
// the next mark. Backward runs each closure in the range that its op stood in.
//
// While a Profiler lives (core/profiler.h) every mark is written down with its time. A build with
// CUDA also tells NVTX of the ranges, always, so that Nsight shows them. Where nobody listens a
// range costs a call.
#pragma once

#include <cstdint>

namespace renar {

/// Who wants to know.
constexpr unsigned kProfileTimes = 1;  ///< a Profiler
constexpr unsigned kProfileNames = 2;  ///< NVTX
bool profile_wanted(unsigned by = kProfileTimes | kProfileNames);

/// A range at its place among a thread's ranges; lives as long as the process.
struct ProfileScope;

/// The range in which the calling thread is; null: none, or nobody listens.
const ProfileScope* profile_scope();

class ProfileRange {
 public:
  explicit ProfileRange(const char* name) {
    if (profile_wanted()) enter(name);
  }
  ~ProfileRange() {
    if (outer_ != nullptr) leave();
  }
  ProfileRange(const ProfileRange&) = delete;
  ProfileRange& operator=(const ProfileRange&) = delete;

 private:
  friend class ProfileWorker;
  ProfileRange() = default;
  void enter(const char* name);
  void enter_beside(const ProfileScope& scope);
  void leave();

  ProfileScope* outer_ = nullptr;  // null: not entered
};

/// What worker number `worker` does for another thread stands in that thread's range; worker 0 is
/// that thread itself.
class ProfileWorker {
 public:
  ProfileWorker(const ProfileScope* range, int worker) {
    if (range != nullptr && worker > 0) begin(*range, worker);
  }

 private:
  void begin(const ProfileScope& range, int worker);

  ProfileRange range_;
};

/// What a tape keeps with a closure.
struct ProfilePlace {
  const char* op;
  const ProfileScope* scope;  // null: the op ran in no range
};

ProfilePlace mark_profile_op(const char* op);
/// Marks the end of an op.
inline ProfilePlace profile_op(const char* op) {
  return profile_wanted() ? mark_profile_op(op) : ProfilePlace{op, nullptr};
}

/// Backward's way through the ranges of its closures: from one to the next and not, as forward, in
/// and out.
class ProfileBackward {
 public:
  ProfileBackward() = default;
  ~ProfileBackward() { enter(nullptr); }
  ProfileBackward(const ProfileBackward&) = delete;
  ProfileBackward& operator=(const ProfileBackward&) = delete;

  /// Before a closure, and after it.
  void enter(const ProfileScope* scope) {
    if (scope != scope_) move(scope);
  }
  void ran(const char* op) {
    if (scope_ != nullptr) mark(op);
  }

 private:
  void move(const ProfileScope* scope);
  void mark(const char* op);

  const ProfileScope* scope_ = nullptr;
};

/// What kernels are: how many, the bytes that they read and write, and the multiplications and
/// additions of those that have many.
struct KernelWork {
  std::int64_t launches = 0, bytes = 0, flops = 0;

  KernelWork& operator+=(const KernelWork& other) {
    launches += other.launches;
    bytes += other.bytes;
    flops += other.flops;
    return *this;
  }
  KernelWork operator-(const KernelWork& other) const {
    return {launches - other.launches, bytes - other.bytes, flops - other.flops};
  }
};

void add_profile_work(const KernelWork& work);
/// Counts a kernel that is started.
inline void count_launch() {
  if (profile_wanted(kProfileTimes)) add_profile_work({.launches = 1});
}
/// What the launch before or behind this call moves and computes.
inline void count_work(std::int64_t bytes, std::int64_t flops = 0) {
  if (profile_wanted(kProfileTimes)) add_profile_work({.bytes = bytes, .flops = flops});
}

}  // namespace renar
