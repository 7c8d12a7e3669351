// The ledger: one JSON object a line for every run that came to an end, whatever folder it ran in.
// It is the memory of sweeps (what is done need not be done again) and the source of their table.
//
//   {"config_hash": "8d1f..", "date": "2026-05-01T12:00:00Z", "directory": "runs/dfs-baseline-1",
//    "config": {"algo": ["dfs"], "steps": 300}, ..all of summary.json..}
//   {.., "commit": .., "algo": .., "seed": .., "error": "the loss of step 17 is nan .."}
//
// Lines are only ever appended, whole (core/files.h); several processes may share a ledger.
// "config" has the settings that differ from their defaults.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trainer/train.h"

namespace renar {

/// Names what a complete configuration computes: 16 hex digits, the same on every machine.
/// Settings at their defaults, those of the machine and those of the call have no part in it, so
/// that a setting which a later version adds changes no hash of the runs before it.
std::string config_hash(const Config& config);

struct LedgerEntry {
  std::string config_hash;
  std::string commit;
  std::string error;  ///< why the run failed; empty: it finished
  RunResult result;   ///< of a finished run
};

class Ledger {
 public:
  /// Reads the file; one that is not there is an empty ledger. Lines that are not a run's are left
  /// out and told in remarks(). Throws renar::Error where the file cannot be read.
  explicit Ledger(const std::string& path);

  /// What is known of a configuration: the last run of it that finished, else the last that failed,
  /// else nullptr.
  const LedgerEntry* find(const std::string& config_hash) const;
  /// Whether a run of that configuration finished.
  bool has_result(const std::string& config_hash) const;
  /// What is wrong with the file, a line each; nothing that stops a sweep.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  std::map<std::string, LedgerEntry> by_hash_;
  std::vector<std::string> remarks_;
};

/// Appends the line of the run that finished in `directory`, made of its summary.json. Throws
/// renar::Error where that is damaged or the line cannot be written.
void append_finished(const std::string& ledger, const Config& config,
                     const RunDirectory& directory);
/// Appends the line of a run that failed; its device as it was asked for where there is none such.
void append_failed(const std::string& ledger, const Config& config, const RunDirectory& directory,
                   const std::string& error);

}  // namespace renar
