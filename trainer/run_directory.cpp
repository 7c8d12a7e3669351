#include "trainer/run_directory.h"

#include <filesystem>
#include <optional>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"

namespace renar {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Steps that a summary.json speaks of, 0 where it is damaged: the run is then finished once more.
int finished_steps(const std::string& path) {
  const std::optional<Json> summary = try_parse_json(read_file(path));
  const bool usable = summary && summary->is_object() && summary->contains("steps") &&
                      summary->at("steps").is_number();
  return usable ? summary->at("steps").get<int>() : 0;
}

}  // namespace

RunPlan RunDirectory::plan(const Config& config, const ValidNames& valid) const {
  std::error_code error;
  const bool resume = !config.resume.empty();
  RENAR_USAGE(!resume || exists(last()),
              "--resume {}: there is no last.safetensors to continue from", path_);
  if (!exists(path_)) return RunPlan::kFresh;
  RENAR_USAGE(fs::is_directory(path_, error), "--out {} is not a directory", path_);
  if (!exists(this->config())) {
    const bool empty = fs::is_empty(path_, error);
    RENAR_USAGE(!error, "--out {}: {}", path_, error.message());
    RENAR_USAGE(empty, "--out {} holds other files than a run's: choose another directory", path_);
    return RunPlan::kFresh;
  }
  if (config.overwrite) return RunPlan::kFresh;
  if (!resume) {  // the arguments of --resume were compared when they were parsed
    const std::string difference = config_difference(read_run_config(path_, valid), config);
    RENAR_USAGE(difference.empty(),
                "--out {} holds a run of another configuration ({}): choose another --out, or "
                "--overwrite to replace it",
                path_, difference);
  }
  if (exists(summary()) && finished_steps(summary()) == config.steps) return RunPlan::kFinished;
  return exists(last()) ? RunPlan::kContinue : RunPlan::kFresh;
}

DirectoryLock RunDirectory::begin(const Config& config, RunPlan plan) const {
  std::error_code error;
  fs::create_directories(path_, error);
  RENAR_CHECK(!error, "[run_directory] cannot make {}: {}", path_, error.message());
  DirectoryLock lock(path_);
  write_file_atomically(this->config(), config_text(config));
  std::vector<std::string> stale = {summary(), curves()};
  if (plan == RunPlan::kFresh) {
    stale.insert(stale.end(), {metrics(), best(), last(), profile(), profile_trace()});
  }
  for (const std::string& file : stale) fs::remove(file, error);
  return lock;
}

}  // namespace renar
