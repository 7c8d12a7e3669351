// Launches that come again: recorded once, then played as one (a CUDA graph).
//
// A training update queues thousands of small kernels, and starting each costs the host about as
// long as the GPU needs for it. So work that comes again with the same launches is run as it is the
// first time, recorded the second, and from then on only its host part runs, which writes the
// numbers to be sent; its launches and copies are left out, and the recording is played instead.
//
// Work is known by a key, which must hold all that its launches depend on: extents, addresses,
// numbers that kernels are given by value. What else changes lies in memory that the work writes
// and sends from (Tape::host_array), at the same addresses. The work may neither wait for the
// device nor allocate its memory once the key has been seen.
//
// Played, launches that need nothing of each other run beside each other (core/lanes.h).
//
// Keys and graphs that were not used for the longest time are forgotten where there are too many.
//
// Not on the CPU, and not while a profiler listens: there the work runs as it is. Fibers play
// recordings, too (core/simt_recording.h), and throw where a played work's launches are not those
// that were recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/device.h"

namespace renar {

/// What is remembered at once.
struct GraphLimits {
  /// Launches, copies and fills of all graphs, which take about 2 KB each, of the host and of the
  /// GPU: 2 GB. At 16 nodes bfs has 1 MB a graph, dfs 5. With lengths rounded as they are
  /// (nn/batch.h) all of 10,000 updates have room, those of mst_kruskal too, which has the most and
  /// the longest (215).
  std::size_t launches = std::size_t{1} << 20;
  std::size_t keys = 4096;  ///< of 24 bytes a time step: 1 KB for dfs at 16 nodes
};

class LaunchGraphs {
 public:
  using Key = std::vector<std::uint64_t>;

  explicit LaunchGraphs(Device device, const GraphLimits& limits = {})
      : device_(device), limits_(limits) {}

  void run(const Key& key, const std::function<void()>& work);
  /// How often a recording was played.
  std::int64_t played() const { return played_; }
  /// Launches, copies and fills of all graphs.
  std::size_t size() const { return size_; }

 private:
  struct Forget {
    void operator()(void* graph) const;
  };
  struct Entry {
    std::unique_ptr<void, Forget> graph;  // null: not recorded
    std::size_t size = 0;                 // of the graph
    std::uint64_t used = 0;
  };
  void record(Entry& entry, const std::function<void()>& work);
  void forget_graphs(const Entry& except);
  void forget_keys();

  Device device_;
  GraphLimits limits_;
  std::map<Key, Entry> entries_;
  std::size_t size_ = 0;  // of all graphs
  std::uint64_t runs_ = 0;
  std::int64_t played_ = 0;
};

}  // namespace renar
