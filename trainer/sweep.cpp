#include "trainer/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <system_error>

#include "core/check.h"
#include "core/files.h"
#include "core/memory.h"
#include "core/text.h"
#include "trainer/ledger.h"
#include "trainer/paper_table.h"
#include "trainer/progress.h"
#include "trainer/run_signal.h"

namespace renar {
namespace {

/// Whether the ledger has all scores of the run; a line that was edited by hand may lack some.
bool is_done(const Ledger& ledger, const SweepRun& run) {
  if (!ledger.has_result(run.hash)) return false;
  const std::vector<AlgorithmResult>& found = ledger.find(run.hash)->result.algorithms;
  if (found.size() != run.config.algo.size()) return false;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k].algo != run.config.algo[k]) return false;
    if (found[k].tests.size() != run.config.test_lengths.size()) return false;
  }
  return true;
}

std::string table_of(const Ledger& ledger, const Sweep& sweep) {
  std::vector<TableRun> runs;
  std::set<std::string> commits;
  int done = 0;
  for (const SweepRun& run : sweep.runs) {
    TableRun& planned = runs.emplace_back();
    planned = {run.config.algo, run.column, run.config.test_lengths, nullptr};
    if (!is_done(ledger, run)) continue;
    const LedgerEntry* entry = ledger.find(run.hash);
    planned.result = &entry->result;
    commits.insert(one_line(entry->commit));
    ++done;
  }
  std::string text = paper_table(runs);
  text += fmt::format("\n{} of {} runs are in {}", done, runs.size(), sweep.ledger);
  if (commits.size() > 1) text += fmt::format(", made by the commits {}", fmt::join(commits, ", "));
  return text + "\n";
}

double seconds_of(const RunResult& result) { return result.seconds + result.validation_seconds; }

/// Seconds a step of the runs that are done: of the same algorithms where there are any, else of
/// all; 0 where nothing is done.
class Pace {
 public:
  void add(const Config& config, const RunResult& result) {
    for (Mean* mean : {&by_algorithm_[join(config.algo)], &all_}) {
      mean->seconds += seconds_of(result);
      mean->steps += result.steps;
    }
  }
  double seconds(const Config& config) const {
    const auto place = by_algorithm_.find(join(config.algo));
    const Mean& mean = place == by_algorithm_.end() ? all_ : place->second;
    return mean.steps > 0 ? mean.seconds / mean.steps * config.steps : 0;
  }

 private:
  struct Mean {
    double seconds = 0;
    double steps = 0;
  };
  std::map<std::string, Mean> by_algorithm_;
  Mean all_;
};

class Runner {
 public:
  Runner(const Sweep& sweep, const Ledger& ledger, const ValidNames& valid)
      : sweep_(sweep), valid_(valid), states_(sweep.runs.size(), State::kWaiting) {
    note_results(ledger);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (waits(i)) refuse_foreign_folder(sweep.runs[i]);
    }
  }

  SweepReport run() {
    SweepReport report;
    make_appendable(sweep_.ledger);
    check_folder();
    const StopSignals signals;
    for (const State look : {State::kWaiting, State::kLeft}) {
      for (std::size_t i = 0; i < states_.size(); ++i) {
        if (states_[i] != look) continue;
        if (stop_requested()) report.ending = Ending::kStopped;
        if (report.ending == Ending::kStopped) return report;
        note_results(Ledger(sweep_.ledger));  // other programs write to it, too
        if (states_[i] != look) continue;
        announce(i, report.failures.size());
        states_[i] = run_one(sweep_.runs[i], report);
        if (states_[i] == State::kLeft) tell_left(sweep_.runs[i], look);
      }
    }
    return report;
  }

 private:
  enum class State { kWaiting, kLeft, kDone, kFailed };  // kLeft: another program is at work on it

  bool waits(std::size_t i) const {
    return states_[i] == State::kWaiting || states_[i] == State::kLeft;
  }

  void note_results(const Ledger& ledger) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const SweepRun& run = sweep_.runs[i];
      if (waits(i) && is_done(ledger, run)) {
        note_result(run.config, ledger.find(run.hash)->result);
        states_[i] = State::kDone;
      }
    }
  }

  void note_result(const Config& config, const RunResult& result) {
    pace_.add(config, result);
    ++done_;
  }

  /// Makes the folder of the first run that waits: where that cannot be, every run would fail.
  void check_folder() const {
    const auto first = std::find(states_.begin(), states_.end(), State::kWaiting);
    if (first == states_.end()) return;
    const std::string& folder =
        sweep_.runs[static_cast<std::size_t>(first - states_.begin())].config.out;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error && ::access(folder.c_str(), W_OK) != 0) error = {errno, std::generic_category()};
    RENAR_USAGE(!error, "--out: cannot write to {}: {}", folder, error.message());
  }

  /// The run's configuration. --overwrite replaces what another configuration left, but goes on
  /// with what this one left: the same call, with the flag, must be able to resume a sweep.
  Config config_of(const SweepRun& run) const {
    Config config = run.config;
    config.overwrite = sweep_.overwrite && !is_of_this_run(config);
    return config;
  }

  bool is_of_this_run(const Config& config) const {
    try {
      return config_difference(read_run_config(config.out, valid_), config).empty();
    } catch (const UsageError&) {
      return false;
    }
  }

  /// So that a folder which holds something else is told before the first run.
  void refuse_foreign_folder(const SweepRun& run) const {
    const RunDirectory directory(run.config.out);
    try {
      const std::optional<DirectoryLock> lock = directory.lock();
      directory.plan(config_of(run), valid_);
    } catch (const DirectoryInUse&) {  // looked at again when its turn comes
    }
  }

  State run_one(const SweepRun& run, SweepReport& report) {
    const RunDirectory directory(run.config.out);
    Config config = run.config;
    std::string error;
    try {
      RunResult result;
      std::optional<DirectoryLock> lock =
          directory.lock();  // as the folder may be anything without
      config = config_of(run);
      const RunPlan plan = directory.plan(config, valid_);
      if (plan == RunPlan::kFinished) {
        result = read_summary(directory.summary());
        lock.reset();
      } else {
        report.ending = train(config, directory, plan, result, std::move(lock));
      }
      if (report.ending == Ending::kStopped) return State::kWaiting;
      record(run, directory);
      note_result(config, result);
      tell(fmt::format("score {:.4f}, trivial {:.4f}, {}: {}", result.score(0), result.trivial(0),
                       human_time(seconds_of(result)), directory.path()));
      return State::kDone;
    } catch (const DirectoryInUse&) {
      return State::kLeft;
    } catch (const std::bad_alloc&) {
      error = kOutOfMemory;
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    append_failed(sweep_.ledger, config, directory, error);
    report.failures.push_back(directory.path() + ": " + error);
    tell("failed: " + error);
    return State::kFailed;
  }

  /// Writes the line of a finished run. The lock keeps other sweeps from doing so meanwhile: of
  /// those that find the run finished, one writes its line.
  void record(const SweepRun& run, const RunDirectory& directory) const {
    const DirectoryLock lock(directory.path());
    if (is_done(Ledger(sweep_.ledger), run)) return;
    append_finished(sweep_.ledger, run.config, directory);
  }

  void announce(std::size_t i, std::size_t failed) const {
    double left = 0;
    for (std::size_t k = 0; k < states_.size(); ++k) {
      if (waits(k)) left += pace_.seconds(sweep_.runs[k].config);
    }
    std::string state = fmt::format("{} done", done_);
    if (failed > 0) state += fmt::format(", {} failed", failed);
    if (left > 0) state += fmt::format(", about {} left", human_time(left));
    tell(fmt::format("run {} of {}: {} ({})", i + 1, sweep_.runs.size(), sweep_.runs[i].name,
                     state));
  }

  /// In the second look it is what the table lacks and no failure: quiet calls say so, too.
  void tell_left(const SweepRun& run, State look) const {
    if (look == State::kWaiting) return tell("left to another program: " + run.config.out);
    renar::tell("note: still left to another program: " + run.config.out);
  }

  void tell(const std::string& line) const {
    if (!sweep_.quiet) renar::tell(line);
  }

  const Sweep& sweep_;
  const ValidNames& valid_;
  std::vector<State> states_;
  int done_ = 0;
  Pace pace_;
};

}  // namespace

SweepReport run_sweep(const Sweep& sweep, const ValidNames& valid) {
  SweepReport report;
  {
    const Ledger ledger(sweep.ledger);
    for (const std::string& remark : ledger.remarks()) tell("note: " + remark);
    if (!sweep.table_only) report = Runner(sweep, ledger, valid).run();
  }
  report.table = table_of(Ledger(sweep.ledger), sweep);
  return report;
}

}  // namespace renar
