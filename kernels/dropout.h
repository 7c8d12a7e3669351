// dropout: y = x / (1 - rate) where an element is kept, else 0; training only.
//
// x, y (B,..). Whether an element is kept depends on the seed, the training update, the time step,
// the sample's place in its batch and the element's place in its sample, and on nothing else: not
// on the shard, the thread, or what else was drawn. The kept elements are scaled, so that
// evaluation leaves the numbers alone. Source: Srivastava et al. 2014.
#pragma once

#include "core/tape.h"

namespace renar {

struct DropoutKey {
  std::uint64_t seed = 0;
  std::uint32_t update = 0;
  std::uint32_t step = 0;
  const int* samples = nullptr;  ///< (B) each sample's place in the batch; on the host
};

/// `rate` in [0, 1); at 0 it is x itself. Throws renar::Error outside.
Tensor dropout(Tape& tape, Tensor x, double rate, const DropoutKey& key);

}  // namespace renar
