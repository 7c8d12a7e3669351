// renar_data: the benchmark's data without the benchmark. `export` writes samples to an .npz file,
// `trace` shows one run step by step, `list` says what there is. --help says what it accepts.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "algos/dataset.h"
#include "algos/pipeline.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/npz.h"
#include "core/text.h"
#include "core/version.h"
#include "tools/numbers.h"
#include "tools/program.h"
#include "trainer/algorithm_list.h"
#include "trainer/json_input.h"
#include "trainer/sampler_flags.h"
#include "trainer/trace_table.h"

namespace renar {
namespace {

struct ExportOptions {
  std::string algo, out;
  std::optional<std::string> split;
  std::optional<int> length, samples, length_needle;
  std::optional<std::uint32_t> seed, pipeline;
  std::vector<double> p;
  bool train = false;
};

struct TraceOptions {
  std::string algo;
  std::optional<int> length;
  std::optional<std::uint32_t> seed;
  std::optional<std::string> input, out;
};

/// "1 sample", "2 samples".
std::string counted(int count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Throws UsageError if a batch of this size is more than a file may unpack to.
void check_size(const Algorithm& algorithm, int nodes, int frames, int samples) {
  double bytes = 0;
  for (const Probe& probe : algorithm.spec()) {
    const int times = probe.stage == Stage::kHint ? frames : 1;
    bytes += static_cast<double>(count_of(probe, nodes) * sizeof(double)) * times * samples;
  }
  RENAR_USAGE(
      bytes <= static_cast<double>(kMaxNpzBytes),
      "{} of {} with {} nodes and {} or more take {} MiB, a file may hold {}: ask for fewer "
      "samples or nodes",
      counted(samples, "sample"), algorithm.name, nodes, counted(frames, "frame"),
      static_cast<std::int64_t>(bytes / (1 << 20)), kMaxNpzBytes >> 20);
}

/// Samples as one batch; refused as soon as it is seen that they are too many to write.
TraceBatch sampled(const Algorithm& algorithm, int length, int samples, std::uint32_t seed,
                   const SamplerParams& params) {
  NumpyRandom random(seed);
  std::vector<Trace> traces;
  int frames = 1;
  check_size(algorithm, length, frames, samples);
  for (int i = 0; i < samples; ++i) {
    traces.push_back(algorithm.sample(random, length, params));
    frames = std::max(frames, traces.back().frames());
    check_size(algorithm, traces.back().nodes(), frames, samples);
  }
  return batch_of(traces);
}

/// Writes the batch and says so in one line.
std::string write_batch(TraceBatch batch, const std::string& path, double start) {
  const int samples = batch.samples, nodes = batch.nodes, frames = batch.frames;
  const Npz arrays = arrays_of(std::move(batch));
  write_npz(path, arrays);
  return fmt::format("{}: {} arrays, {} of {} nodes, {}, {} bytes, {:.2f} s\n", path, arrays.size(),
                     counted(samples, "sample"), nodes, counted(frames, "frame"),
                     std::filesystem::file_size(path), seconds_now() - start);
}

int run_export(const ExportOptions& o) {
  const double start = seconds_now();
  check_writable(o.out, "--out");
  const Algorithm& algorithm = find_algorithm(o.algo);
  TraceBatch batch;
  if (o.split) {
    const Split split = split_of(*o.split);
    const bool alone =
        !o.length && !o.samples && !o.seed && o.p.empty() && !o.length_needle && !o.train;
    RENAR_USAGE(alone, "--split {} says length, samples, seed and sampler: leave out their flags",
                *o.split);
    batch = make_clrs30(algorithm, split);
  } else {
    RENAR_USAGE(o.length && o.samples && o.seed,
                "give --split train, val or test, or --length, --samples and --seed (algorithm {})",
                algorithm.name);
    const SamplerParams& base = o.train ? algorithm.training : algorithm.dataset;
    batch = sampled(algorithm, *o.length, *o.samples, *o.seed,
                    changed_params(algorithm, base, o.p, o.length_needle));
  }
  if (o.pipeline) {
    NumpyRandom positions(*o.pipeline);
    apply(Pipeline{}, algorithm, batch, positions);
  }
  print_out(write_batch(std::move(batch), o.out, start));
  return 0;
}

/// Runs the algorithm on a file's input; what is wrong with its content is said with its name.
Trace run_on(const Algorithm& algorithm, const std::string& path) {
  const UserInput input = read_json_input(path, algorithm.inputs);
  try {
    return algorithm.run(input);
  } catch (const UsageError& error) {
    throw UsageError(message_of("{}: {}", path, error.what()));
  } catch (const Error& error) {
    throw Error(message_of("{}: {}", path, error.what()));
  }
}

int run_trace(const TraceOptions& o) {
  const double start = seconds_now();
  check_writable(o.out, "--out");
  const Algorithm& algorithm = find_algorithm(o.algo);
  RENAR_USAGE(
      o.input.has_value() != o.length.has_value() && o.length.has_value() == o.seed.has_value(),
      "give --length and --seed for a random input of {}, or --input for your own", algorithm.name);
  const auto random_trace = [&] {
    NumpyRandom random(*o.seed);
    return algorithm.sample(random, *o.length, algorithm.dataset);
  };
  const std::vector<Trace> trace = {o.input ? run_on(algorithm, *o.input) : random_trace()};
  print_out(fmt::format("{}: {}, {}; algos/{}/{}.cpp says what its hints mean\n\n{}",
                        algorithm.name, counted(trace[0].nodes(), "node"),
                        counted(trace[0].frames(), "frame"), name_of(algorithm.category),
                        algorithm.name, trace_table(trace[0])));
  if (o.out) {
    check_size(algorithm, trace[0].nodes(), trace[0].frames(), 1);
    print_out("\n" + write_batch(batch_of(trace), *o.out, start));
  }
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("The data of CLRS-30, made from a seed, bit for bit.", "renar_data");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  const Range lengths = range_of("test-lengths"), seeds = range_of("seed");

  ExportOptions e;
  CLI::App* exporting = app.add_subcommand("export", "writes samples to a numpy .npz file");
  exporting->add_option("--algo", e.algo, "algorithm; `list` names all")->required();
  exporting->add_option("--out", e.out, "the file to write")->required();
  exporting->add_option("--split", e.split, "a set of CLRS-30: train, val or test");
  const std::string own = "A set of your own";
  add_values(*exporting, "--length", e.length, lengths, "nodes")->group(own);
  add_values(*exporting, "--samples", e.samples, range_of("test-samples", 1), "samples")
      ->group(own);
  add_values(*exporting, "--seed", e.seed, seeds, "seed of the sampler")->group(own);
  exporting->add_flag("--train", e.train, "the parameters of training, not those of the test set")
      ->group(own);
  add_values(*exporting, "--p", e.p, kShares,
             "edge probabilities of graphs, with commas; a sample draws one")
      ->group(own);
  add_values(*exporting, "--length-needle", e.length_needle, range_of("length-needle"), kNeedleHelp)
      ->group(own);
  add_values(*exporting, "--pipeline", e.pipeline, seeds,
             "as a network sees it: random positions from this seed, pred as input, permutations");

  TraceOptions t;
  CLI::App* tracing = app.add_subcommand("trace", "shows one run of an algorithm, frame by frame");
  tracing->add_option("--algo", t.algo, "algorithm; `list` names all")->required();
  add_values(*tracing, "--length", t.length, {.low = 1, .high = kMaxInputSize},
             "nodes of a random input");
  add_values(*tracing, "--seed", t.seed, seeds, "seed of a random input");
  tracing->add_option("--input", t.input, "a JSON file with your own; `list` says what it holds");
  tracing->add_option("--out", t.out, "an .npz file to write the run to as well");

  bool json = false;
  CLI::App* listing = app.add_subcommand("list", "the algorithms, what they take and their probes");
  listing->add_flag("--json", json, "as one JSON object");

  return parse_and_run(app, argc, argv, [&] {
    fail_beyond_physical_memory();
    if (exporting->parsed()) return run_export(e);
    if (tracing->parsed()) return run_trace(t);
    print_out(json ? algorithm_list_json() : algorithm_list());
    return 0;
  });
}

}  // namespace
}  // namespace renar

int main(int argc, char** argv) {
  return renar::guarded_main([&] { return renar::run(argc, argv); });
}
