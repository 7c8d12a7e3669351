// Rows between samples and their slots, which hold what crosses from one part of a trajectory to
// the next (nn/carried_state.h). They are data: no gradient.
//
//   take_up_rows:   x[k] = state[slot[k]]   for the samples k that have a slot     x (count,each)
//   put_down_rows:  state[slot[k]] = x[k]                                    state (slots,each)
//
// On a device all tensors' rows of a time step are one launch, where copies would be one for each
// sample and tensor.
#pragma once

#include <cstdint>

#include "core/device.h"
#include "core/tensor.h"

namespace renar {

constexpr std::int32_t kNoSlot = -1;

/// Slots that samples 0, 1, .. have, as the rows of which kernels read and write; they lie where
/// the device is.
struct SlotRows {
  std::int64_t count;  ///< samples
  const std::int32_t* slot;
  std::int64_t slots;  ///< rows of a state
  std::int64_t each;   ///< numbers of a row
};

void take_up_rows(Device device, const SlotRows& rows, const Real* state, Real* x);
/// No two samples may have one slot; those that have none (kNoSlot) are left out.
void put_down_rows(Device device, const SlotRows& rows, const Real* x, Real* state);

}  // namespace renar
