#include "core/parallel.h"

#include <omp.h>

#include <algorithm>
#include <exception>

#include "core/profile.h"

namespace renar {

int available_threads() { return omp_get_num_procs(); }

void run_shards(int shards, int threads, ShardTask task) {
  std::exception_ptr error;
  int failed = shards;
  const ProfileScope* range = profile_scope();
#pragma omp parallel for schedule(dynamic, 1) num_threads(std::max(threads, 1))
  for (int shard = 0; shard < shards; ++shard) {
    try {
      const ProfileWorker profile(range, omp_get_thread_num());
      task.call(task.callable, shard, omp_get_thread_num());
    } catch (...) {
#pragma omp critical(renar_shard_error)
      if (shard < failed) {
        failed = shard;
        error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace renar
