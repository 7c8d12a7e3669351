// renar_bench: how fast is it here? `step` times training steps and predictions of one algorithm,
// `ops` (bench_ops.h) each op, `data` (bench_data.h) the samplers; `kernels` (bench_kernels.h) says
// what a step's kernels are on a GPU.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <vector>

#include "core/clock.h"
#include "core/device_buffer.h"
#include "core/json.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/version.h"
#include "kernels/gemm.h"
#include "kernels/products.h"
#include "tools/bench_data.h"
#include "tools/bench_kernels.h"
#include "tools/bench_model.h"
#include "tools/bench_ops.h"
#include "tools/bench_times.h"
#include "tools/numbers.h"
#include "tools/program.h"
#include "trainer/machine.h"

namespace {
std::atomic<long> allocations{0};
const double program_start = renar::seconds_now();
}  // namespace

// Counts what a step allocates; the steady state should be 0.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace renar {
namespace {

struct StepOptions : ModelOptions {
  int steps = 10;
  bool predict = false, json = false;
};

constexpr int kRepeats = 200, kTries = 5;  // of a product
constexpr std::int64_t kHidden = 128;

/// The host's and the devices'.
long allocations_in_all() { return allocations + static_cast<long>(device_counts().allocations); }

/// GFLOP/s of the GPU's product at the messages' shape for 32 samples of 16 nodes.
double sgemm_peak_on(Device device, Precision precision) {
  if (device == Device::kSimt) return 0;  // would take minutes and say nothing
  constexpr std::int64_t kRows = 32 * 256;
  DeviceBuffer<Real> x(device), w(device), y(device);
  x.zeros(kRows * kHidden);
  w.zeros(kHidden * kHidden);
  y.zeros(kRows * kHidden);
  const Times times = time_of(kTries, [&] {
    for (int i = 0; i < kRepeats; ++i) {
      add_products({.rows = kRows,
                    .out = kHidden,
                    .y = y.data(),
                    .terms = 1,
                    .term = {{x.data(), w.data(), kHidden}},
                    .precision = precision});
    }
    Real last = 0;
    y.download(&last, 1);  // waits
  });
  return 2.0 * kRows * kHidden * kHidden * kRepeats / times.min / 1e6;
}

/// GFLOP/s of this process's own product at the messages' shape, one on each thread.
double sgemm_peak(int threads) {
  constexpr std::int64_t kRows = 256;
  std::vector<std::vector<Real>> memory(
      static_cast<std::size_t>(threads),
      std::vector<Real>(2 * kRows * kHidden + kHidden * kHidden, 1));
  const Times times = time_of(kTries, [&] {
    for_each_shard(threads, threads, [&](int shard, int) {
      Real* x = memory[static_cast<std::size_t>(shard)].data();
      Real *w = x + kRows * kHidden, *y = w + kHidden * kHidden;
      for (int i = 0; i < kRepeats; ++i) {
        gemm(kRows, kHidden, kHidden, {x, kHidden, 1}, {w, kHidden, 1}, y);
      }
    });
  });
  return 2.0 * kRows * kHidden * kHidden * kRepeats * threads / times.min / 1e6;
}

/// What was timed, and on what, around a report's own numbers.
Json report_of(const StepOptions& o, const Machine& machine, const BenchedModel& model,
               const Json& numbers) {
  const Config& config = model.config();
  Json report = {{"algo", o.algo},
                 {"method", config.method},
                 {"processor", config.processor},
                 {"hidden", config.hidden},
                 {"device", machine.device == Device::kCpu ? "cpu" : text_of(machine)},
                 {"precision", o.config.precision},
                 {"nodes", model.length()},
                 {"batch", o.batch},
                 {"steps_T", steps_of(model.batch().frames)}};
  report.update(numbers);
  report.update({{"cpu", cpu_model()}, {"isa", instruction_set()}, {"threads", machine.threads}});
  return report;
}

/// What was timed as a text's first line.
std::string first_line(const StepOptions& o, const BenchedModel& model) {
  const Config& config = model.config();
  return fmt::format("{} n = {}, batch {}, {}, {}, hidden {}: T = {} steps\n", o.algo,
                     model.length(), o.batch, config.method, config.processor, config.hidden,
                     steps_of(model.batch().frames));
}

/// Predictions alone, as `--predict` asks.
int report_predictions(const StepOptions& o, const Machine& machine, const BenchedModel& model,
                       const Times& times) {
  if (o.json) {
    const Json numbers = {{"predict_ms_min", times.min},
                          {"predict_ms_median", times.median},
                          {"peak_rss_mib", peak_memory_mib()}};
    fmt::print("{}\n", report_of(o, machine, model, numbers).dump());
    return 0;
  }
  fmt::print("{}", first_line(o, model));
  fmt::print("prediction     {:9.1f} ms min  {:9.1f} ms median of {}\n", times.min, times.median,
             o.steps);
  fmt::print("machine        {}\n", text_of(machine));
  return 0;
}

int bench_step(const StepOptions& o) {
  const Machine machine = machine_of(o.device, o.threads, o.config.precision);
  const bool on_cpu = machine.device == Device::kCpu;
  BenchedModel model(o, machine);
  const auto predict = [&] { model.predict(); };
  if (o.predict) {
    const Times times = time_of(o.steps, predict);
    return report_predictions(o, machine, model, times);
  }
  double first = 0;  // seconds from the start of the program to the end of the first step
  const auto step = [&] {
    model.update();
    if (first == 0) first = seconds_now() - program_start;
  };

  const Times training = time_of(o.steps, step);
  const long before = allocations_in_all();
  const std::int64_t waits_before = device_counts().waits;
  step();
  const long made = allocations_in_all() - before;
  const std::int64_t waits = device_counts().waits - waits_before;
  count_flops(true);
  step();
  const double gflop = static_cast<double>(counted_flops()) / 1e9;
  count_flops(false);
  const double memory = peak_memory_mib();
  const Times predicting = time_of(std::max(1, o.steps / 2), predict);
  const double gflops = gflop / training.min * 1e3,
               peak = on_cpu ? sgemm_peak(machine.threads)
                             : sgemm_peak_on(machine.device, machine.precision);

  if (o.json) {
    const Json numbers = {{"step_ms_min", training.min},
                          {"step_ms_median", training.median},
                          {"first_step_s", first},
                          {"predict_ms_min", predicting.min},
                          {"gflop", gflop},
                          {"gflops", gflops},
                          {"sgemm_peak_gflops", peak},
                          {"peak_rss_mib", memory},
                          {"allocations", made},
                          {"device_waits", waits}};
    fmt::print("{}\n", report_of(o, machine, model, numbers).dump());
    return 0;
  }
  fmt::print("{}", first_line(o, model));
  fmt::print("training step  {:9.1f} ms min  {:9.1f} ms median of {}\n", training.min,
             training.median, o.steps);
  fmt::print("prediction     {:9.1f} ms min\n", predicting.min);
  fmt::print(
      "products       {:9.1f} GFLOP a training step, {:.0f} GFLOP/s of {:.0f} at "
      "[{},128]x[128,128]\n",
      gflop, gflops, peak, on_cpu ? 256 : 32 * 256);
  fmt::print("memory         {:9.0f} MiB at most, {} allocations a step\n", memory, made);
  fmt::print("machine        {}\n", text_of(machine));
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("Times renar on this machine.", "renar_bench");
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  StepOptions o;
  CLI::App* step = app.add_subcommand("step", "one training step and one prediction of a batch");
  add_model(*step, o);
  add_values(*step, "--steps", o.steps, kPositive, "steps that are timed");
  add_device(*step, o.device, o.config.precision);
  add_values(*step, "--threads", o.threads, range_of("threads"), "0: all cores");
  step->add_flag("--predict", o.predict, "predictions alone, no training step");
  step->add_flag("--json", o.json, "one JSON object");

  OpsOptions p;
  CLI::App* ops =
      app.add_subcommand("ops", "every op, forward and backward, on one core or a device");
  add_values(*ops, "--length", p.length, kPositive, "nodes");
  add_values(*ops, "--batch", p.batch, kPositive, "samples");
  add_values(*ops, "--hidden", p.hidden, range_of("hidden", kHeads),
             "hidden units, a multiple of 4 (heads)");
  add_values(*ops, "--repeats", p.repeats, kPositive, "calls that are timed");
  add_device(*ops, p.device, p.precision);
  ops->add_flag("--json", p.json, "one JSON object");

  KernelsOptions k;
  CLI::App* kernels = app.add_subcommand(
      "kernels",
      "bytes, operations and the least time of a training step's kernels; on a GPU their "
      "time, too");
  add_model(*kernels, k);
  kernels->add_option("--device", k.device, "auto, cuda, or simt, where they are only counted")
      ->check(CLI::IsMember({"auto", "cuda", "simt"}))
      ->capture_default_str();
  kernels->add_flag("--json", k.json, "one JSON object");

  DataOptions d;
  CLI::App* data = app.add_subcommand("data", "the CLRS-30 test samples of every algorithm");
  add_values(*data, "--algo", d.algos, {}, "algorithms with commas between them; default: all");
  add_values(*data, "--length", d.length, kPositive, "nodes");
  data->add_flag("--json", d.json, "one JSON object");
  return parse_and_run(app, argc, argv, [&] {
    const std::string device = ops->parsed()       ? p.device
                               : step->parsed()    ? o.device
                               : kernels->parsed() ? k.device
                                                   : "cpu";
    if (!takes_gpu(device)) fail_beyond_physical_memory();
    if (ops->parsed()) return bench_ops(p);
    if (kernels->parsed()) return bench_kernels(k);
    return data->parsed() ? bench_data(d) : bench_step(o);
  });
}

}  // namespace
}  // namespace renar

int main(int argc, char** argv) {
  return renar::guarded_main([&] { return renar::run(argc, argv); });
}
