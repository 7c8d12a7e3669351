#include "kernels/slot_rows.h"

#include "core/launch.h"

namespace renar {
namespace {

/// Where number i of the samples stands in a state; kNoSlot: nowhere.
RENAR_HOST_DEVICE inline std::int64_t place_in_state(const SlotRows& rows, std::int64_t i) {
  const std::int64_t slot = rows.slot[i / rows.each];
  return slot == kNoSlot ? kNoSlot : slot * rows.each + i % rows.each;
}

struct TakeUpRows {
  SlotRows rows;
  const Real* state;
  Real* x;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(rows.slot, rows.count)
        .reads(state, rows.slots * rows.each)
        .writes(x, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t at = place_in_state(rows, i);
    if (at != kNoSlot) x[i] = state[at];
  }
};

struct PutDownRows {
  SlotRows rows;
  const Real* x;
  Real* state;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(rows.slot, rows.count)
        .reads(x, count)
        .writes(state, rows.slots * rows.each);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t at = place_in_state(rows, i);
    if (at != kNoSlot) state[at] = x[i];
  }
};

}  // namespace

void take_up_rows(Device device, const SlotRows& rows, const Real* state, Real* x) {
  for_each(device, rows.count * rows.each, TakeUpRows{rows, state, x});
}

void put_down_rows(Device device, const SlotRows& rows, const Real* x, Real* state) {
  for_each(device, rows.count * rows.each, PutDownRows{rows, x, state});
}

}  // namespace renar
