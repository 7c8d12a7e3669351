// Chunks cut by hand out of a batch of whole trajectories.
#pragma once

#include <algorithm>
#include <vector>

#include "nn/batch.h"

namespace renar::test {

/// Frames [begin, end) of a sample of some batch of whole trajectories.
struct Cut {
  std::int64_t sample;
  std::int64_t slot;
  int begin, end;
};

/// The chunk of these cuts: a sample's first frame in it is the one that its first step reads.
inline Batch chunk_of(const Batch& whole, const std::vector<Cut>& cuts) {
  Batch chunk;
  chunk.spec = whole.spec;
  chunk.nodes = whole.nodes;
  chunk.size = std::ssize(cuts);
  for (const Cut& cut : cuts) {
    const int length = whole.lengths[static_cast<std::size_t>(cut.sample)];
    chunk.lengths.push_back(cut.end - std::max(cut.begin - 1, 0));
    chunk.parts.push_back({cut.slot, cut.begin > 1, cut.end == length});
    chunk.slots = std::max(chunk.slots, cut.slot + 1);
  }
  chunk.frames = *std::max_element(chunk.lengths.begin(), chunk.lengths.end());
  for (std::size_t p = 0; p < whole.spec->size(); ++p) {
    const bool hint = (*whole.spec)[p].stage == Stage::kHint;
    std::vector<Real>& values = chunk.values.emplace_back();
    for (int t = 0; t < (hint ? chunk.frames : 1); ++t) {
      for (const Cut& cut : cuts) {
        const int frame = std::max(cut.begin - 1, 0) + t;
        if (hint && frame >= cut.end) {
          values.resize(values.size() + static_cast<std::size_t>(whole.stride(p)));
        } else {
          const Real* from = whole.at(p, frame, cut.sample);
          values.insert(values.end(), from, from + whole.stride(p));
        }
      }
    }
  }
  chunk.cut();
  return chunk;
}

}  // namespace renar::test
