// Runs a sweep: each run that the ledger does not have yet is trained in its own folder, one after
// the other, and gets its line in the ledger. The same call again goes on where it was stopped:
// finished runs are skipped, the interrupted one continues from its last checkpoint, failed ones
// are tried once more. What is computed is train()'s affair alone.
//
// Several sweeps may be at work at once. Each reads the ledger again before every run and skips
// what has got its line by then. A run in whose folder another program is at work is left to it and
// looked at once more after the others.
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
/// kStopped: a signal came. Throws UsageError before the first run where a folder holds something
/// else or cannot be written to, renar::Error where the ledger cannot be read or written.
SweepReport run_sweep(const Sweep& sweep, const ValidNames& valid);

}  // namespace renar
