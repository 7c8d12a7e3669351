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
// Not on the CPU, and not while a profiler listens: there the work runs as it is. Fibers play
// recordings, too (core/simt_recording.h), and throw where a played work's launches are not those
// that were recorded.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/device.h"

namespace renar {

class LaunchGraphs {
 public:
  using Key = std::vector<std::uint64_t>;

  explicit LaunchGraphs(Device device) : device_(device) {}

  void run(const Key& key, const std::function<void()>& work);
  /// How often a recording was played.
  std::int64_t played() const { return played_; }

 private:
  struct Forget {
    void operator()(void* graph) const;
  };
  struct Entry {
    Key key;
    std::unique_ptr<void, Forget> graph;  // null: seen once
    std::uint64_t used = 0;
  };
  Entry* find(const Key& key);
  void note(const Key& key);

  Device device_;
  std::vector<Entry> entries_;
  std::uint64_t runs_ = 0;
  std::int64_t played_ = 0;
};

}  // namespace renar
