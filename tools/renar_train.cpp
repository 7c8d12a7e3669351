// renar_train: trains a net on an algorithm and scores it on the CLRS-30 test set; --sweep does so
// for every combination of a grid. CLI.md says what it accepts.
#include <fmt/core.h>

#include "core/files.h"
#include "core/text.h"
#include "tools/program.h"
#include "tools/valid_names.h"
#include "trainer/ledger.h"
#include "trainer/profiled_steps.h"
#include "trainer/sweep.h"
#include "trainer/train.h"

namespace renar {
namespace {

constexpr int kFailed = 1;

int one_run(const Flags& flags, const ValidNames& valid) {
  const Config config = run_config(flags, valid);
  const RunDirectory directory(config.out);
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
    try {
      if (train(config, directory, plan, result) == Ending::kStopped) {
        fmt::print(stderr, "stopped; go on with: ./renar_train --resume {}\n", directory.path());
        return kStoppedByUser;
      }
    } catch (const Error& error) {
      if (keeps_ledger) append_failed(config.ledger, config, directory, error.what());
      throw;
    }
  }
  if (keeps_ledger && !Ledger(config.ledger).has_result(config_hash(config))) {
    append_finished(config.ledger, config, directory);
  }
  fmt::print("{}", result_text(result, directory));
  if (config.profile && !config.quiet) fmt::print("{}", profile_summary(directory));
  return 0;
}

int many_runs(const Flags& flags, const ValidNames& valid, const std::string& call) {
  const Sweep sweep = read_sweep(flags, valid);
  const SweepReport report = run_sweep(sweep, valid);
  if (report.ending == Ending::kStopped) {
    fmt::print(stderr, "stopped; the same call goes on: {}\n", call);
    return kStoppedByUser;
  }
  fmt::print("{}", report.table);
  if (report.failures.empty()) return 0;
  std::fflush(stdout);
  fmt::print(stderr, "error: {} of {} runs failed; the same call tries them again\n",
             report.failures.size(), sweep.runs.size());
  for (const std::string& failure : report.failures) fmt::print(stderr, "  {}\n", failure);
  return kFailed;
}

int run(int argc, char** argv) {
  const ValidNames valid = valid_names();
  const std::optional<Flags> flags = read_flags(argc, argv, valid);
  if (!flags) return 0;  // --help or --version
  if (!flags->contains("sweep")) return one_run(*flags, valid);
  return many_runs(*flags, valid, join(std::vector<std::string>(argv, argv + argc), " "));
}

}  // namespace
}  // namespace renar

int main(int argc, char** argv) {
  return renar::guarded_main([&] { return renar::run(argc, argv); });
}
