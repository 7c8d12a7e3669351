// `renar_bench data`: how long the samples of CLRS-30 take on one core, algorithm by algorithm.
//
// Each sample of an algorithm's test set is made once to warm up and then timed alone: drawing the
// input, running the algorithm, recording its hints. Then the whole set is made once more, as the
// test after a training uses it: in batches of a few samples, padded, side by side.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "algos/dataset.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/version.h"
#include "tools/bench_times.h"
#include "tools/program.h"

namespace renar {

struct DataOptions {
  std::vector<std::string> algos;  // empty: all
  int length = 64;
  bool json = false;
};

struct DataTimes {
  std::string algo;
  int samples = 0;      // of the test set
  int frames = 0;       // of its longest sample
  Times microseconds;   // a sample
  double test_seconds;  // the whole set in batches
};

inline DataTimes time_data(const Algorithm& algorithm, int length) {
  constexpr int kWarmUp = 4;
  const int samples = samples_in(algorithm, Split::kTest);
  NumpyRandom warm(clrs30(Split::kTest).seed), random(clrs30(Split::kTest).seed);
  for (int i = 0; i < kWarmUp; ++i) algorithm.sample(warm, length, algorithm.dataset);
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    const double start = seconds_now();
    algorithm.sample(random, length, algorithm.dataset);
    times.push_back((seconds_now() - start) * 1e6);
  }
  constexpr int kBatch = 8;  // of which every test set has a multiple
  NumpyRandom again(clrs30(Split::kTest).seed);
  int frames = 0;
  const double start = seconds_now();
  for (int i = 0; i < samples; i += kBatch) {
    const TraceBatch batch = sample_batch(algorithm, again, length, kBatch, algorithm.dataset);
    frames = std::max(frames, batch.frames);
  }
  const double test_seconds = seconds_now() - start;
  return {algorithm.name, samples, frames, times_of(std::move(times)), test_seconds};
}

inline int bench_data(const DataOptions& o) {
  for (const std::string& name : o.algos) find_algorithm(name);  // names the unknown one
  std::vector<DataTimes> rows;
  double total = 0;
  if (!o.json) {
    fmt::print("{:<30}{:>8}{:>8}{:>12}{:>12}{:>12}{:>14}\n", "n = " + std::to_string(o.length),
               "samples", "frames", "us min", "us median", "samples/s", "test set, s");
  }
  for (const Algorithm& algorithm : algorithms()) {
    const bool chosen = std::find(o.algos.begin(), o.algos.end(), algorithm.name) != o.algos.end();
    if (!o.algos.empty() && !chosen) continue;
    const DataTimes row = rows.emplace_back(time_data(algorithm, o.length));
    total += row.test_seconds;
    if (o.json) continue;
    print_out(fmt::format("{:<30}{:>8}{:>8}{:>12.1f}{:>12.1f}{:>12.0f}{:>14.4f}\n", row.algo,
                          row.samples, row.frames, row.microseconds.min, row.microseconds.median,
                          1e6 / row.microseconds.median, row.test_seconds));
  }
  if (!o.json) {
    fmt::print("{:<82}{:>14.4f}\n", fmt::format("total of {} algorithms on one core", rows.size()),
               total);
    fmt::print("machine: {}, {}\n", cpu_model(), instruction_set());
    return 0;
  }
  Json list = Json::array();
  for (const DataTimes& row : rows) {
    list.push_back({{"algo", row.algo},
                    {"samples", row.samples},
                    {"frames", row.frames},
                    {"sample_us_min", row.microseconds.min},
                    {"sample_us_median", row.microseconds.median},
                    {"samples_per_second", 1e6 / row.microseconds.median},
                    {"test_set_seconds", row.test_seconds}});
  }
  const Json out = {{"nodes", o.length},
                    {"algorithms", list},
                    {"total_seconds", total},
                    {"cpu", cpu_model()},
                    {"isa", instruction_set()}};
  fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace renar
