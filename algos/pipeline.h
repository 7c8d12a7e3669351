// What the field's training pipeline does to a batch after it was sampled, in this order:
//
//   random_positions  The even positions i/N become random ones in the same order, so that a
//                     network cannot learn the places of one size by heart.
//   pred_as_input     The hint pred_h of an algorithm that never changes it (Algorithm::
//                     pred_is_input) becomes the input `pred`.
//   permutations      A should_be_permutation output becomes a permutation_pointer, closed to a
//                     cycle (the first node, which pointed to itself, points to the last), and a
//                     mask_one <name>_mask that marks the first node.
#pragma once

#include "algos/registry.h"
#include "algos/trace_batch.h"
#include "core/numpy_random.h"

namespace renar {

struct Pipeline {
  bool random_positions = true;
  bool pred_as_input = true;
  bool permutations = true;
};

/// The algorithm's probes as they are after the pipeline, with which a network is built.
Spec spec_after(const Pipeline& pipeline, const Algorithm& algorithm);

/// Takes a batch of the algorithm's own spec through the pipeline. `positions` serves the random
/// positions, see randomize_positions. Throws renar::Error for a batch of another spec, a pred_h
/// that changes and a should_be_permutation that is no order of the nodes.
void apply(const Pipeline& pipeline, const Algorithm& algorithm, TraceBatch& batch,
           NumpyRandom& positions);

/// The same without random positions, as test sets are used. Throws as apply.
void apply_but_positions(const Pipeline& pipeline, const Algorithm& algorithm, TraceBatch& batch);

/// B*N uniform draws, row by row, then sorted within each segment of a sample, in place of `pos`. A
/// segment starts where `pos` is 0: the string algorithms have two, others one.
void randomize_positions(TraceBatch& batch, NumpyRandom& random);

}  // namespace renar
