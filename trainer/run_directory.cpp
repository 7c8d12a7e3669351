#include "trainer/run_directory.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/files.h"
#include "trainer/train.h"

namespace renar {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Whether its summary.json speaks of so many steps; where that is damaged the run is finished once
/// more.
bool is_finished(const RunDirectory& directory, int steps) {
  try {
    return exists(directory.summary()) && read_summary(directory.summary()).steps == steps;
  } catch (const Error&) {
    return false;
  }
}

/// Files that a run of ours was writing in `directory` when it was killed.
std::vector<fs::path> half_written(const RunDirectory& directory) {
  const std::vector<std::string> ours = directory.files();
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory.path(), error)) {
    const std::string name = half_written_of(entry.path().filename().string());
    const std::string path = directory.path() + "/" + name;
    if (std::find(ours.begin(), ours.end(), path) != ours.end()) found.push_back(entry.path());
  }
  return found;
}

}  // namespace

RunPlan RunDirectory::plan(const Config& config, const ValidNames& valid) const {
  std::error_code error;
  const bool resume = !config.resume.empty();
  RENAR_USAGE(
      !resume || exists(last()),
      "--resume {}: there is no last.safetensors to continue from; the call that began the run, "
      "without --resume, begins it anew",
      path_);
  if (!exists(path_)) return RunPlan::kFresh;
  RENAR_USAGE(fs::is_directory(path_, error), "--out {} is not a directory", path_);
  if (!exists(this->config())) {
    const auto all = std::distance(fs::directory_iterator(path_, error), fs::directory_iterator());
    RENAR_USAGE(!error, "--out {}: {}", path_, error.message());
    const bool empty = all == std::ssize(half_written(*this));
    RENAR_USAGE(empty, "--out {} holds other files than a run's: choose another directory", path_);
    return RunPlan::kFresh;
  }
  if (config.overwrite) return RunPlan::kFresh;
  if (!resume) {  // the arguments of --resume were compared when they were parsed
    Config there = read_run_config(path_, valid);
    const std::string difference = config_difference(there, config);
    const int steps_there = std::exchange(there.steps, config.steps);
    RENAR_USAGE(
        difference.empty() || steps_there > config.steps ||
            !config_difference(there, config).empty(),
        "--out {0} holds this run with {1} steps: --resume {0} --steps {2} goes on with it, "
        "--overwrite begins it anew",
        path_, steps_there, config.steps);
    RENAR_USAGE(difference.empty(),
                "--out {} holds a run of another configuration ({}): choose another --out, or "
                "--overwrite to replace it",
                path_, difference);
  }
  if (is_finished(*this, config.steps)) return RunPlan::kFinished;
  return exists(last()) ? RunPlan::kContinue : RunPlan::kFresh;
}

std::optional<DirectoryLock> RunDirectory::lock() const {
  std::error_code none;
  if (!fs::is_directory(path_, none)) return std::nullopt;
  return DirectoryLock(path_);
}

DirectoryLock RunDirectory::begin(const Config& config, RunPlan plan,
                                  std::optional<DirectoryLock> held) const {
  std::error_code error;
  fs::create_directories(path_, error);
  RENAR_CHECK(!error, "[run_directory] cannot make {}: {}", path_, error.message());
  DirectoryLock lock = held ? *std::move(held) : DirectoryLock(path_);
  const bool outdated = plan == RunPlan::kFresh ? !config.overwrite && exists(last())
                                                : is_finished(*this, config.steps);
  if (outdated) {
    throw DirectoryInUse(message_of(
        "[run_directory] another program has worked in {} meanwhile: the same call goes on with it",
        path_));
  }
  for (const fs::path& file : half_written(*this)) fs::remove(file, error);
  std::vector<std::string> stale = {summary(), curves()};  // no result without its files
  if (plan == RunPlan::kFresh) {
    stale.insert(stale.end(), {last(), best(), metrics(), profile(), profile_trace()});
  }
  remove_files(stale);
  write_file_atomically(this->config(), config_text(config));
  return lock;
}

}  // namespace renar
