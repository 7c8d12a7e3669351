// The directory of a run: its files, and what a call may do with one that is there already.
//
//   config.toml  metrics.jsonl  best.safetensors  last.safetensors  summary.json  curves.svg
//   profile.txt  profile.json of --profile
//
// A directory of the same configuration is continued, a finished one only prints its result again,
// one of another configuration or of something else is left alone unless --overwrite says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/files.h"
#include "trainer/config.h"

namespace renar {

enum class RunPlan { kFresh, kContinue, kFinished };

class RunDirectory {
 public:
  explicit RunDirectory(std::string path) : path_(std::move(path)) {}

  /// What `config` finds here; changes nothing. Throws renar::UsageError where the directory is not
  /// for this run.
  RunPlan plan(const Config& config, const ValidNames& valid) const;
  /// Makes the directory if need be, removes what a run that was killed has half written and, if
  /// fresh, an older run's files, and then writes config.toml: killed in between, it leaves no
  /// checkpoint beside another run's configuration.
  /// The run keeps the lock until it ends: the one that was held while it was planned, where there
  /// was a directory to lock. Throws DirectoryInUse where another run has it, or has made meanwhile
  /// what was not there.
  [[nodiscard]] DirectoryLock begin(const Config& config, RunPlan plan,
                                    std::optional<DirectoryLock> held = {}) const;
  /// To be held while a run is planned and until it ends; none where there is no directory yet.
  /// Throws DirectoryInUse where another run has it.
  std::optional<DirectoryLock> lock() const;

  const std::string& path() const { return path_; }
  std::string config() const { return path_ + "/config.toml"; }
  std::string metrics() const { return path_ + "/metrics.jsonl"; }
  std::string best() const { return path_ + "/best.safetensors"; }
  std::string last() const { return path_ + "/last.safetensors"; }
  std::string summary() const { return path_ + "/summary.json"; }
  std::string curves() const { return path_ + "/curves.svg"; }
  std::string profile() const { return path_ + "/profile.txt"; }
  std::string profile_trace() const { return path_ + "/profile.json"; }
  std::vector<std::string> files() const {
    return {config(), metrics(), best(), last(), summary(), curves(), profile(), profile_trace()};
  }

 private:
  std::string path_;
};

}  // namespace renar
