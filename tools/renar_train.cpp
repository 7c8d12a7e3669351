// renar_train: trains a net on an algorithm and scores it on the CLRS-30 test set; --sweep does so
// for every combination of a grid. --help says what it accepts.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <new>

#include "core/files.h"
#include "core/text.h"
#include "tools/program.h"
#include "tools/valid_names.h"
#include "trainer/ledger.h"
#include "trainer/profiled_steps.h"
#include "trainer/progress.h"
#include "trainer/sweep.h"
#include "trainer/train.h"

namespace renar {
namespace {

constexpr int kFailed = 1;

/// The line of a run that failed, where a ledger is kept.
void note_failure(const Config& config, const RunDirectory& directory, const char* why) {
  if (!config.ledger.empty()) append_failed(config.ledger, config, directory, why);
}

/// How to go on with a run that was stopped.
std::string resume_call(const std::string& program, const Config& config,
                        const RunDirectory& directory) {
  std::string call = shell_quoted(program) + " --resume " + shell_quoted(directory.path());
  if (!config.ledger.empty()) call += " --ledger " + shell_quoted(config.ledger);
  return call;
}

int one_run(const Flags& flags, const ValidNames& valid, const std::string& program) {
  const Config config = run_config(flags, valid);
  const RunDirectory directory(config.out);
  std::optional<DirectoryLock> lock = directory.lock();
  const RunPlan plan = directory.plan(config, valid);
  RENAR_USAGE(!config.profile || plan != RunPlan::kFinished,
              "--profile: the run in {} is finished; --overwrite trains it again",
              directory.path());
  const bool keeps_ledger = !config.ledger.empty();
  if (keeps_ledger) make_appendable(config.ledger);  // or say so before the work, not after it
  RunResult result;
  if (plan == RunPlan::kFinished) {
    result = read_summary(directory.summary());
  } else {
    if (!takes_gpu(config.device)) fail_beyond_physical_memory();
    try {
      if (train(config, directory, plan, result, std::move(lock)) == Ending::kStopped) {
        tell("stopped; go on with: " + resume_call(program, config, directory));
        return kStoppedByUser;
      }
    } catch (const UsageError&) {
      throw;  // the call was wrong, no run failed
    } catch (const DirectoryInUse&) {
      throw;  // nor has one that another program is at work on
    } catch (const std::bad_alloc&) {
      note_failure(config, directory, kOutOfMemory);
      throw;
    } catch (const std::exception& error) {
      note_failure(config, directory, error.what());
      throw;
    }
  }
  // A run that was finished before may be there already; one that this call has trained is new.
  if (keeps_ledger &&
      (plan != RunPlan::kFinished || !Ledger(config.ledger).has_result(config_hash(config)))) {
    append_finished(config.ledger, config, directory);
  }
  fmt::print("{}", result_text(result, directory));
  if (config.profile && !std::filesystem::exists(directory.profile())) {
    tell("note: --profile: all steps were done, none was left to measure");
  } else if (config.profile && !config.quiet) {
    fmt::print("{}", profile_summary(directory));
  }
  return 0;
}

int many_runs(const Flags& flags, const ValidNames& valid, const std::string& call) {
  const Sweep sweep = read_sweep(flags, valid);
  const bool on_gpu = std::any_of(sweep.runs.begin(), sweep.runs.end(),
                                  [](const SweepRun& run) { return takes_gpu(run.config.device); });
  if (!on_gpu) fail_beyond_physical_memory();
  const SweepReport report = run_sweep(sweep, valid);
  if (report.ending == Ending::kStopped) {
    tell("stopped; the same call goes on: " + call);
    return kStoppedByUser;
  }
  print_out(report.table);
  if (report.failures.empty()) return 0;
  tell(fmt::format("error: {} of {} runs failed; the same call tries them again",
                   report.failures.size(), sweep.runs.size()));
  for (const std::string& failure : report.failures) tell("  " + failure);
  return kFailed;
}

int run(int argc, char** argv) {
  const ValidNames valid = valid_names();
  const std::optional<Flags> flags = read_flags(argc, argv, valid);
  if (!flags) return 0;  // --help or --version
  if (!flags->contains("sweep")) return one_run(*flags, valid, argv[0]);
  std::vector<std::string> quoted(argv, argv + argc);
  for (std::string& word : quoted) word = shell_quoted(word);
  return many_runs(*flags, valid, join(quoted, " "));
}

}  // namespace
}  // namespace renar

int main(int argc, char** argv) {
  return renar::guarded_main([&] { return renar::run(argc, argv); });
}
