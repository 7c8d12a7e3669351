// A sweep's file: a grid of runs in TOML, named as the flags are.
//
//   steps = 1000                   # the same for all runs
//   [grid]                         # every combination is a run; the last key varies fastest
//   algo = ["dfs", "bfs"]
//   seed = [1, 2, 3]
//   [[variant]]                    # what no product says: settings that change together, each
//   processor = "triplet_gmpnn"    # variant with all of the grid; a list makes a product here, too
//   [[variant]]
//   processor = "mpnn"
//   lr = [0.001, 0.0005]         # a variant's value weighs more than the top's
//
// A setting whose value is itself a list takes lists: train-lengths = [[4, 7], [16]]; an entry of
// algo may be one, too, and is then a run of several algorithms.
#pragma once

#include <string>
#include <vector>

#include "trainer/config.h"

namespace renar {

struct SweepRun {
  Config config;       ///< complete, its directory included
  std::string hash;    ///< config_hash
  std::string name;    ///< what sets it apart: "algo=dfs processor=mpnn seed=2"
  std::string column;  ///< the same without algorithm and seed: "mpnn lr=0.001"; may be empty
};

struct Sweep {
  std::string ledger;
  bool table_only = false;
  bool overwrite = false;
  bool quiet = false;
  std::vector<SweepRun> runs;
};

/// The runs of --sweep FILE, in order. Flags count for all runs and weigh more than the top of the
/// file; they may not name what varies. Throws UsageError, one line that names file and key, for
/// everything that is wrong with the file or the call; nothing has been written then.
Sweep read_sweep(const Flags& flags, const ValidNames& valid);

}  // namespace renar
