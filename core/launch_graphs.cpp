#include "core/launch_graphs.h"

#include <algorithm>

#include "core/cuda.h"
#include "core/launch.h"
#include "core/profile.h"

namespace renar {
namespace {

/// A graph takes about 2 KB a launch, of the host and of the GPU: 15 MB for dfs at 16 nodes.
constexpr std::size_t kMostGraphs = 32;

}  // namespace

void LaunchGraphs::Forget::operator()(void* graph) const { cuda_forget(graph); }

LaunchGraphs::Entry* LaunchGraphs::find(const Key& key) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.key == key; });
  return at == entries_.end() ? nullptr : &*at;
}

// In place of the one that was not used for the longest time, where there are many.
void LaunchGraphs::note(const Key& key) {
  if (entries_.size() < kMostGraphs) {
    entries_.push_back({key, nullptr, runs_});
    return;
  }
  Entry& oldest = *std::min_element(entries_.begin(), entries_.end(),
                                    [](const Entry& a, const Entry& b) { return a.used < b.used; });
  oldest = {key, nullptr, runs_};
}

void LaunchGraphs::run(const Key& key, const std::function<void()>& work) {
  if (device_ == Device::kCpu || profile_wanted(kProfileTimes)) return work();
  start_collected();
  ++runs_;
  Entry* entry = find(key);
  if (entry == nullptr) {
    note(key);
    return work();
  }
  entry->used = runs_;
  if (entry->graph == nullptr) {
    const CudaRecording recording;
    work();
    start_collected();
    entry->graph.reset(recording.finish());
  } else {
    const CudaSilence silence;
    work();
    start_collected();
  }
  cuda_play(entry->graph.get());
  ++played_;
}

}  // namespace renar
