// What the field's training pipeline does to a batch after it was sampled.
#pragma once

#include "algos/trace_batch.h"
#include "core/numpy_random.h"

namespace renar {

/// Replaces the even positions i/N by random ones in the same order, so that a network cannot learn
/// the places of one size by heart: B*N uniform draws, row by row, then sorted within each segment
/// of a sample. A segment starts where `pos` is 0: the string algorithms have two, others one.
void randomize_positions(TraceBatch& batch, NumpyRandom& random);

}  // namespace renar
