// Every shard runs once, on any number of threads; workers are within range; errors by shard
// number; what they compute with.
#include "core/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "core/check.h"

namespace renar::parallel_test {
namespace {

TEST_CASE("parallel: all shards run once, whatever the number of threads") {
  for (const int threads : {1, 2, 3, 8, 64}) {
    for (const int shards : {0, 1, 2, 7, 100}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(shards));
      std::atomic<int> strangers{0};
      for_each_shard(shards, threads, [&](int shard, int worker) {
        ++runs[static_cast<std::size_t>(shard)];
        if (worker < 0 || worker >= threads) ++strangers;
      });
      for (const std::atomic<int>& count : runs) CHECK(count == 1);
      CHECK(strangers == 0);
    }
  }
}

TEST_CASE("parallel: a worker runs one shard at a time") {
  constexpr int kThreads = 4;
  std::vector<std::atomic<int>> busy(kThreads);
  std::atomic<int> overlaps{0};
  for_each_shard(40, kThreads, [&](int, int worker) {
    if (++busy[static_cast<std::size_t>(worker)] != 1) ++overlaps;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    --busy[static_cast<std::size_t>(worker)];
  });
  CHECK(overlaps == 0);
}

TEST_CASE("parallel: the first error by shard number is thrown, after every shard has run") {
  for (const int threads : {1, 2, 8}) {
    std::atomic<int> runs{0};
    const auto run = [&](int shard, int) {
      ++runs;
      // The later shard fails at once, the earlier one late.
      if (shard == 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (shard >= 3) throw Error("shard " + std::to_string(shard));
    };
    CHECK_THROWS_WITH_AS(for_each_shard(10, threads, run), "shard 3", Error);
    CHECK(runs == 10);
  }
}

#if defined(__SSE__)
TEST_CASE("parallel: subnormal numbers are zeros in a shard, on every thread, and not around it") {
  const volatile float smallest = std::numeric_limits<float>::min();
  const auto half = [&] { return smallest * 0.5F; };
  const volatile float subnormal = half();
  const auto doubled = [&] { return subnormal * 2; };
  CHECK(half() > 0);
  CHECK(doubled() == smallest);
  for (const int threads : {1, 3}) {
    std::atomic<int> zeros{0};
    for_each_shard(6, threads, [&](int, int) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // all threads take part
      if (half() == 0) ++zeros;                                   // what is computed
      if (doubled() == 0) ++zeros;                                // what is read
    });
    CHECK(zeros == 12);
    CHECK(half() > 0);
  }
  CHECK_THROWS_AS(for_each_shard(1, 1, [](int, int) { throw Error("shard"); }), Error);
  CHECK(half() > 0);
}
#endif

TEST_CASE("parallel: a call within a call, and calls of two threads at once") {
  constexpr int kThreads = 3, kShards = 20;
  std::atomic<int> runs{0};
  const auto nested = [&] {
    for_each_shard(kShards, kThreads,
                   [&](int, int) { for_each_shard(kShards, kThreads, [&](int, int) { ++runs; }); });
  };
  for (int call = 0; call < 50; ++call) {
    std::thread other(nested);
    nested();
    other.join();
  }
  CHECK(runs == 50 * 2 * kShards * kShards);
}

TEST_CASE("parallel: fewer than one thread is one thread") {
  int highest = -1;
  for_each_shard(20, 0, [&](int, int worker) { highest = std::max(highest, worker); });
  CHECK(highest == 0);
  CHECK(available_threads() >= 1);
}

}  // namespace
}  // namespace renar::parallel_test
