// renar_train: trains a net on an algorithm and scores it on the CLRS-30 test set. CLI.md says what
// it accepts.
#include <fmt/core.h>

#include "algos/registry.h"
#include "nn/processor.h"
#include "tools/program.h"
#include "trainer/train.h"

namespace renar {
namespace {

constexpr int kStoppedByUser = 130;

ValidNames valid_names() {
  ValidNames valid{{}, {}, processor_kinds()};
  for (const Algorithm& algorithm : algorithms()) {
    valid.algorithms.push_back(algorithm.name);
    if (algorithm.in_clrs30) valid.all.push_back(algorithm.name);
  }
  return valid;
}

int run(int argc, char** argv) {
  const ValidNames valid = valid_names();
  const std::optional<Config> config = parse_train_arguments(argc, argv, valid);
  if (!config) return 0;  // --help or --version
  const RunDirectory directory(config->out);
  const RunPlan plan = directory.plan(*config, valid);
  RunResult result;
  if (plan == RunPlan::kFinished) {
    result = read_summary(directory.summary());
  } else if (train(*config, directory, plan, result) == Ending::kStopped) {
    fmt::print(stderr, "stopped; go on with: ./renar_train --resume {}\n", directory.path());
    return kStoppedByUser;
  }
  fmt::print("{}", result_text(result, directory));
  return 0;
}

}  // namespace
}  // namespace renar

int main(int argc, char** argv) {
  return renar::guarded_main([&] { return renar::run(argc, argv); });
}
