#include "core/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/check.h"
#include "core/profile.h"
#include "core/subnormals.h"

namespace renar {
namespace {

/// Lets the other thread of the core on, some nanoseconds.
void pause_a_moment() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits while `word` is `old`: some ten microseconds awake, as the others are seldom further
/// behind, then asleep, so that who waits never keeps who works from a core.
void wait_while(const std::atomic<unsigned>& word, unsigned old) {
  for (int i = 0; i < 300; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    pause_a_moment();
  }
  word.wait(old, std::memory_order_acquire);
}

/// The shards of one call, handed out in order.
class Shards {
 public:
  Shards(int count, ShardTask task) : count_(count), task_(task), failed_(count) {}

  /// Runs the next ones until there are none.
  void run(int worker) {
    const FlushSubnormals flush;
    for (int shard = next_++; shard < count_; shard = next_++) {
      try {
        const ProfileWorker profile(range_, worker);
        task_.call(task_.callable, shard, worker);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (shard < failed_) {
          failed_ = shard;
          error_ = std::current_exception();
        }
      }
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  int count_;
  ShardTask task_;
  const ProfileScope* range_ = profile_scope();  // of the thread that calls
  std::atomic<int> next_{0};
  std::mutex mutex_;
  int failed_;
  std::exception_ptr error_;
};

/// Threads that live as long as the process and work for one call at a time.
class Team {
 public:
  ~Team() {
    shards_ = nullptr;
    begin_round();
    for (std::thread& helper : helpers_) helper.join();
  }

  /// False, and nothing done, where it works for another call: one that is further up, or another
  /// thread's.
  bool run(Shards& shards, int threads) {
    if (busy_.exchange(true)) return false;
    const Release release{busy_};
    grow(threads - 1);
    shards_ = &shards;
    wanted_ = threads - 1;
    working_ = static_cast<unsigned>(helpers_.size());
    begin_round();
    shards.run(0);
    for (unsigned left = working_; left > 0; left = working_) wait_while(working_, left);
    return true;
  }

 private:
  struct Release {
    std::atomic<bool>& busy;
    ~Release() { busy = false; }
  };

  void grow(int helpers) {
    while (std::ssize(helpers_) < helpers) {
      const int worker = static_cast<int>(helpers_.size()) + 1;
      try {
        helpers_.emplace_back([this, worker, round = round_.load()] { help(worker, round); });
      } catch (const std::system_error& error) {
        throw Error(message_of("[parallel] cannot start thread {}: {}; fewer --threads may help",
                               worker + 1, error.code().message()));
      }
    }
  }

  void begin_round() {
    ++round_;
    round_.notify_all();
  }

  void help(int worker, unsigned round) {
    for (;; ++round) {
      wait_while(round_, round);
      if (shards_ == nullptr) return;
      if (worker <= wanted_) shards_->run(worker);
      if (--working_ == 0) working_.notify_one();
    }
  }

  std::atomic<bool> busy_{false};
  std::vector<std::thread> helpers_;  // workers 1, 2, ..; whoever calls is worker 0
  std::atomic<unsigned> round_{0};    // counts the calls
  std::atomic<unsigned> working_{0};  // helpers that have not ended this round
  // Of the round, written before it begins:
  Shards* shards_ = nullptr;  // null: there will be none any more
  int wanted_ = 0;            // helpers that take part
};

}  // namespace

int available_threads() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void run_shards(int count, int threads, ShardTask task) {
  static Team team;
  Shards shards(count, task);
  threads = std::min(threads, count);
  if (threads < 2 || !team.run(shards, threads)) shards.run(0);
  shards.rethrow();
}

}  // namespace renar
