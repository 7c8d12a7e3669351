// Shards on threads: run(i, worker) for every shard i, on at most `threads` threads.
//
// Shards are handed out in order as threads become free; which thread runs which is open, so run()
// may write only what belongs to shard i, and use the scratch of its `worker` (0 .. threads - 1).
// The first error by shard number is thrown again after all threads have stopped. Subnormal numbers
// are zeros in it (core/subnormals.h).
//
// The threads are kept for the next call, and sleep where they have nothing to do: OpenMP's, which
// spin for milliseconds by default, made two runs on the same cores sixty times slower. A call
// within a call, or beside another thread's, runs on the thread that makes it.
#pragma once

namespace renar {

/// Cores this process may use.
int available_threads();

/// A callable by reference: std::function would allocate at every call.
struct ShardTask {
  const void* callable;
  void (*call)(const void* callable, int shard, int worker);
};

/// Throws renar::Error where a thread cannot be started.
void run_shards(int shards, int threads, ShardTask task);

template <class Run>
void for_each_shard(int shards, int threads, const Run& run) {
  run_shards(shards, threads, {&run, [](const void* callable, int shard, int worker) {
                                 (*static_cast<const Run*>(callable))(shard, worker);
                               }});
}

}  // namespace renar
