#include "algos/pipeline.h"

#include <algorithm>
#include <vector>

namespace renar {

void randomize_positions(TraceBatch& batch, NumpyRandom& random) {
  std::vector<double>& pos = batch.values[batch.spec.index_of("pos")];  // (B,N)
  std::vector<double> drawn = random.uniform(0, 1, pos.size());
  const std::size_t n = static_cast<std::size_t>(batch.nodes);
  std::size_t start = 0;
  for (std::size_t i = 1; i <= pos.size(); ++i) {
    const bool segment_ends = i % n == 0 || pos[i] == 0;
    if (!segment_ends) continue;
    std::sort(drawn.begin() + static_cast<std::ptrdiff_t>(start),
              drawn.begin() + static_cast<std::ptrdiff_t>(i));
    start = i;
  }
  pos = std::move(drawn);
}

}  // namespace renar
