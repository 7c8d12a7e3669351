// renar_eval: scores a run at any size, output by output, hint by hint and step by step, or exports
// its parameters. CLI.md says what it accepts.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/version.h"
#include "tools/program.h"
#include "tools/valid_names.h"
#include "trainer/evaluate_run.h"
#include "trainer/initial_parameters.h"
#include "trainer/run_signal.h"
#include "trainer/train.h"

namespace renar {
namespace {

constexpr int kMaxLength = 4096, kMaxSamples = 1'000'000, kMaxThreads = 1024;

struct Options {
  std::string run, checkpoint = "best", split = "test";
  std::optional<std::string> json, npz;
  int threads = 0;
  std::string device, precision;
  EvaluationRequest request;
};

template <class T>
void check_no_doubles(const std::vector<T>& values, const char* flag) {
  for (auto value = values.begin(); value != values.end(); ++value) {
    RENAR_USAGE(std::find(values.begin(), value, *value) == value, "{} has {} twice", flag, *value);
  }
}

/// An hour's scores should not end at a folder that is not there.
void check_writable(const std::optional<std::string>& path, const char* flag) {
  if (!path) return;
  const std::filesystem::path parent = std::filesystem::absolute(*path).parent_path();
  RENAR_USAGE(!path->empty() && std::filesystem::is_directory(parent),
              "{} {}: there is no folder {}", flag, *path, parent.string());
}

int evaluate_and_export(Options& o) {
  check_no_doubles(o.request.lengths, "--lengths");
  check_no_doubles(o.request.algo, "--algo");
  check_writable(o.json, "--json");
  check_writable(o.npz, "--export");
  o.request.split = split_of(o.split);
  RENAR_USAGE(o.request.split != Split::kTrain,
              "--split train: a run is scored on val or test, not on what it was trained on");
  const TrainedRun run(o.run, o.checkpoint == "best" ? Checkpoint::kBest : Checkpoint::kLast,
                       valid_names());
  if (o.npz) {
    const std::size_t arrays = export_parameters(*o.npz, run.net);
    print_out(fmt::format("{}: {} arrays, the {} parameters of {}, after {} steps\n", *o.npz,
                          arrays, o.checkpoint, o.run, run.step));
    if (o.request.lengths.empty() && !o.json) return 0;
  }

  const StopSignals signals;
  const double start = seconds_now();
  const Machine machine = machine_of(o.device.empty() ? run.config.device : o.device,
                                     o.threads > 0 ? o.threads : run.config.threads,
                                     o.precision.empty() ? run.config.precision : o.precision);
  const auto scores =
      evaluate_run(run, o.request, machine, print_out, [] { return !stop_requested(); });
  if (!scores) {
    fmt::print(stderr, "stopped{}\n", o.json ? "; " + *o.json + " was not written" : "");
    return kStoppedByUser;
  }
  if (o.json) {
    const auto object = json_of(run, o.request, *scores, seconds_now() - start, machine);
    write_file_atomically(*o.json, object.dump(2) + "\n");
  }
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Scores a run of renar_train on inputs of any size: the share of right answers, beside it "
      "what the best constant prediction scores and the share of samples without any mistake.",
      "renar_eval");
  app.set_version_flag("--version", version_text());
  Options o;
  app.add_option("--run", o.run, "the run's directory; it need not be finished")->required();
  app.add_option("--checkpoint", o.checkpoint, "best validation or last (default: best)")
      ->check(CLI::IsMember({"best", "last"}));
  app.add_option("--json", o.json, "write everything to this file, as one JSON object");
  app.add_option("--export", o.npz,
                 "write the parameters to this .npz, named as dm-clrs names them; scores too only "
                 "where --lengths or --json asks");
  app.add_option("--device", o.device, "default: as the run")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "simt"}));
  app.add_option("--precision", o.precision, "of a GPU's products; default: as the run")
      ->check(CLI::IsMember({"fp32", "tf32", "bf16"}));
  app.add_option("--threads", o.threads, "default: as the run")->check(CLI::Range(1, kMaxThreads));

  const std::string what = "What is scored";
  app.add_option("--algo", o.request.algo, "some of the run's algorithms, with commas")
      ->delimiter(',')
      ->group(what);
  app.add_option("--lengths", o.request.lengths,
                 "nodes, with commas (default: the run's test lengths; of val 16)")
      ->delimiter(',')
      ->check(CLI::Range(1, kMaxLength))
      ->group(what);
  app.add_flag("--hints", o.request.hints, "hint by hint and step by step, too")->group(what);

  const std::string data = "Data";
  app.add_option("--split", o.split, "whose seed: test is seed 3, val 2 (default: test)")
      ->group(data);
  app.add_option("--data-seed", o.request.data_seed, "another seed")
      ->check(CLI::Range(std::uint32_t{0}, ~std::uint32_t{0}))
      ->group(data);
  app.add_option("--samples", o.request.samples,
                 "samples a length (default: as the run's test set, or as CLRS-30 has)")
      ->check(CLI::Range(1, kMaxSamples))
      ->group(data);
  app.add_option("--p", o.request.p, "edge probabilities of graphs, with commas")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->group(data);
  app.add_option("--length-needle", o.request.length_needle,
                 "letters of a string matcher's needle; -8: drawn from 1 to 8; 0: a fifth")
      ->check(CLI::Range(-kMaxLength, kMaxLength))
      ->group(data);

  return parse_and_run(app, argc, argv, [&] {
    fail_beyond_physical_memory();
    return evaluate_and_export(o);
  });
}

}  // namespace
}  // namespace renar

int main(int argc, char** argv) {
  return renar::guarded_main([&] { return renar::run(argc, argv); });
}
