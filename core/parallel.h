// Shards on threads: run(i, worker) for every shard i, on at most `threads` threads.
//
// Shards are handed out in order as threads become free; which thread runs which is open, so run() may
// write only what belongs to shard i, and use the scratch of its `worker` (0 .. threads - 1). The first
// error by shard number is thrown again after all threads have stopped.
#pragma once

#include <functional>

namespace renar {

/// Cores this process may use.
int available_threads();

void for_each_shard(int shards, int threads, const std::function<void(int shard, int worker)>& run);

}  // namespace renar
