// renar_eval: scores a run at any size, output by output, hint by hint and step by step, or exports
// its parameters. --help says what it accepts.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "core/clock.h"
#include "core/files.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/version.h"
#include "tools/numbers.h"
#include "tools/program.h"
#include "tools/valid_names.h"
#include "trainer/evaluate_run.h"
#include "trainer/initial_parameters.h"
#include "trainer/progress.h"
#include "trainer/run_signal.h"
#include "trainer/train.h"

namespace renar {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string run, checkpoint = "best", split = "test";
  std::optional<std::string> json, npz;
  int threads = 0;
  std::string device, precision;
  EvaluationRequest request;
};

void check_files(const Options& o) {
  const auto whole = [](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path));
  };
  check_writable(o.json, "--json");
  check_writable(o.npz, "--export");
  RENAR_USAGE(!o.json || !o.npz || whole(*o.json) != whole(*o.npz),
              "--json and --export name one file, {}", o.json.value_or(""));
}

int evaluate_and_export(Options& o) {
  check_files(o);
  o.request.split = split_of(o.split);
  RENAR_USAGE(o.request.split != Split::kTrain,
              "--split train: a run is scored on val or test, not on what it was trained on");
  const ValidNames valid = valid_names();
  const bool on_gpu = takes_gpu(o.device.empty() ? read_run_config(o.run, valid).device : o.device);
  if (!on_gpu) fail_beyond_physical_memory();
  const TrainedRun run(o.run, o.checkpoint == "best" ? Checkpoint::kBest : Checkpoint::kLast,
                       valid);
  if (o.npz) {
    const std::size_t arrays = export_parameters(*o.npz, run.net);
    print_out(fmt::format("{}: {} arrays, the {} parameters of {}, after {} steps\n", *o.npz,
                          arrays, o.checkpoint, o.run, run.step));
    if (o.request == EvaluationRequest() && !o.json) return 0;
  }

  const StopSignals signals;
  const double start = seconds_now();
  const Machine machine = machine_of(o.device.empty() ? run.config.device : o.device,
                                     o.threads > 0 ? o.threads : run.config.threads,
                                     o.precision.empty() ? run.config.precision : o.precision);
  const auto scores =
      evaluate_run(run, o.request, machine, print_out, [] { return !stop_requested(); });
  if (!scores) {
    tell("stopped" + (o.json ? "; " + *o.json + " was not written" : ""));
    return kStoppedByUser;
  }
  if (o.json) {
    const auto object = json_of(run, o.request, *scores, seconds_now() - start, machine);
    const auto replace = Json::error_handler_t::replace;  // paths need not be UTF-8
    write_file_atomically(*o.json, object.dump(2, ' ', false, replace) + "\n");
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
                 "where another flag asks what or where to (--lengths, --hints, --json, ..)");
  add_word(app, "--device", o.device, "device", "default: as the run");
  add_word(app, "--precision", o.precision, "precision",
           "of a GPU's products; default: as the run");
  add_values(app, "--threads", o.threads, range_of("threads", 1), "default: as the run");

  const std::string what = "What is scored";
  add_values(app, "--algo", o.request.algo, {}, "some of the run's algorithms, with commas")
      ->group(what);
  add_values(app, "--lengths", o.request.lengths, range_of("test-lengths"),
             "nodes, with commas (default: the run's test lengths; of val 16)")
      ->group(what);
  app.add_flag("--hints", o.request.hints, "hint by hint and step by step, too")->group(what);

  const std::string data = "Data";
  app.add_option("--split", o.split, "whose seed: test is seed 3, val 2 (default: test)")
      ->group(data);
  add_values(app, "--data-seed", o.request.data_seed, range_of("seed"), "another seed")
      ->group(data);
  add_values(app, "--samples", o.request.samples, range_of("test-samples", 1),
             "samples a length (default: as the run's test set, or as CLRS-30 has)")
      ->group(data);
  add_values(app, "--p", o.request.p, kShares, "edge probabilities of graphs, with commas")
      ->group(data);
  add_values(app, "--length-needle", o.request.length_needle, range_of("length-needle"),
             kNeedleHelp)
      ->group(data);

  return parse_and_run(app, argc, argv, [&] { return evaluate_and_export(o); });
}

}  // namespace
}  // namespace renar

int main(int argc, char** argv) {
  return renar::guarded_main([&] { return renar::run(argc, argv); });
}
