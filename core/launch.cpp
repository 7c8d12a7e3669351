#include "core/launch.h"

#include "core/check.h"

namespace renar {

void check_grid(const Grid& grid) {
  constexpr std::int64_t kMostBlocksX = 0x7fffffff, kMostBlocksY = 65535, kMostThreads = 1024;
  RENAR_CHECK(grid.blocks.x <= kMostBlocksX && grid.blocks.y <= kMostBlocksY,
              "[launch] {} x {} blocks, at most {} x {} can be started", grid.blocks.x,
              grid.blocks.y, kMostBlocksX, kMostBlocksY);
  RENAR_CHECK(
      grid.threads.x * grid.threads.y >= 1 && grid.threads.x * grid.threads.y <= kMostThreads,
      "[launch] {} x {} threads in a block, expected 1 to {}", grid.threads.x, grid.threads.y,
      kMostThreads);
  RENAR_CHECK(grid.shared_bytes <= kMostShared, "[launch] {} bytes of shared memory, at most {}",
              grid.shared_bytes, kMostShared);
}

}  // namespace renar
