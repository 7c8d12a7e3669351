// Runs a sweep: each run that the ledger does not have yet is trained in its own folder, one after
// the other, and gets its line in the ledger. The same call again goes on where it was stopped:
// finished runs are skipped, the interrupted one continues from its last checkpoint, failed ones
// are tried once more. What is computed is train()'s affair alone.
#pragma once

#include <string>
#include <vector>

#include "trainer/sweep_file.h"
#include "trainer/train.h"

namespace renar {

struct SweepReport {
  Ending ending = Ending::kFinished;
  std::vector<std::string> failures;  ///< of this call: "<folder>: why"
  std::string table;                  ///< of what the ledger has at the end
};

/// Runs what is to be run, telling stderr what it does. A run that fails does not end the sweep.
/// kStopped: a signal came. Throws UsageError before anything is written where a folder holds
/// something else, renar::Error where the ledger cannot be read or written.
SweepReport run_sweep(const Sweep& sweep, const ValidNames& valid);

}  // namespace renar
