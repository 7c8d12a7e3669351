// The only door from algos to tensors: traces in double become a batch of Real, cut into shards.
#pragma once

#include "algos/trace_batch.h"
#include "nn/batch.h"

namespace renar {

/// Fills `batch`, whose memory is reused. `spec` is the net's and equals the traces'; throws
/// renar::Error if not.
void fill_batch(const Spec& spec, const TraceBatch& traces, Batch& batch);

/// Samples [begin, end) of the traces as a batch of their own.
Batch batch_of_range(const Spec& spec, const TraceBatch& traces, int begin, int end);

}  // namespace renar
