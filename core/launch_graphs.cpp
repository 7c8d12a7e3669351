#include "core/launch_graphs.h"

#include <algorithm>

#include "core/cuda.h"
#include "core/lanes.h"
#include "core/launch.h"
#include "core/profile.h"

namespace renar {
namespace {

/// All of it, or none of what still waits.
void run_whole(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    forget_collected();
    throw;
  }
  start_collected();
}

}  // namespace

void LaunchGraphs::Forget::operator()(void* graph) const { cuda_forget(graph); }

void LaunchGraphs::record(Entry& entry, const std::function<void()>& work) {
  const CudaRecording recording;
  run_whole(work);
  entry.graph.reset(recording.finish(entry.size));
  size_ += entry.size;
  forget_graphs(entry);
}

void LaunchGraphs::forget_graphs(const Entry& except) {
  while (size_ > limits_.launches) {
    Entry* oldest = nullptr;
    for (auto& [key, entry] : entries_) {
      if (entry.graph == nullptr || &entry == &except) continue;
      if (oldest == nullptr || entry.used < oldest->used) oldest = &entry;
    }
    if (oldest == nullptr) return;
    size_ -= oldest->size;
    *oldest = {.graph = nullptr, .used = oldest->used};
  }
}

void LaunchGraphs::forget_keys() {
  if (entries_.size() < limits_.keys) return;
  const auto oldest =
      std::min_element(entries_.begin(), entries_.end(),
                       [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
  size_ -= oldest->second.size;
  entries_.erase(oldest);
}

void LaunchGraphs::run(const Key& key, const std::function<void()>& work) {
  const bool runs_as_it_is = device_ == Device::kCpu || profile_wanted(kProfileTimes);
  if (runs_as_it_is || recording_lanes() == 0) return work();
  start_collected();
  ++runs_;
  const auto at = entries_.find(key);
  if (at == entries_.end()) {
    run_whole(work);
    forget_keys();
    entries_[key].used = runs_;  // and not before: what failed may have to allocate once more
    return;
  }
  Entry& entry = at->second;
  entry.used = runs_;
  if (entry.graph == nullptr) {
    record(entry, work);
  } else {
    const CudaSilence silence;
    run_whole(work);
  }
  cuda_play(entry.graph.get());
  ++played_;
}

}  // namespace renar
