// loss_sum: where losses add up what they cost.
//
// On the CPU a loss adds its costs to one number, at once. On a device that would be a sum over a
// block for every probe and time step, most of it waiting. There each element (or row) of a loss
// adds to a number of its own, step after step, and these are summed when the trajectory ends: one
// kernel for all sums, which is recorded before any loss and so runs when backward has passed all.
// A thread of it adds up its numbers, a warp its threads', a block its warps', always in the same
// order: the same bits in every run.
#pragma once

#include "core/tape.h"

namespace renar {

struct LossSum {
  LossSum() = default;
  /// `most`: elements that a loss may have on a device; 0 for the CPU.
  LossSum(double& sum, std::int64_t most = 0) : total(&sum), room(most) {}

  double* total = nullptr;  ///< where the tape's device is
  double* costs = nullptr;  ///< (room), on a device only
  std::int64_t room = 0;    ///< `most`
};

/// Gives each sum its costs, all 0; backward adds them to its total, which no other has, last of
/// all that is recorded from now on. The CPU needs nothing done. A device's costs are found when
/// backward is run: throws renar::Error where the tape does not record.
void open_sums(Tape& tape, LossSum* sums, std::int64_t count);

}  // namespace renar
