// keep_last: held[b] = x[b] where last[b], of several tensors; the other samples stay as they are.
// x (A,..), held (B,..), A <= B.
//
// Time step after time step each sample's numbers are overwritten by those of the next. What is to
// be read of every sample's last step, and of all samples at once (nn/net.cpp), is kept beside.
// The gradient of held goes where its numbers came from.
#pragma once

#include <cstdint>

#include "core/short_list.h"
#include "core/tape.h"

namespace renar {

struct Keeping {
  Tensor x;
  Tensor held;
};
constexpr int kMostKept = 8;
using Keepings = ShortList<Keeping, kMostKept>;

/// `last` has A entries, lies where the tape's device is and lives as long as its trajectory, as
/// all of `held` do; no two tensors are the same numbers. On a device all are one launch. Throws
/// renar::Error where a shape does not fit.
void keep_last(Tape& tape, const Keepings& keepings, const std::uint8_t* last);

}  // namespace renar
