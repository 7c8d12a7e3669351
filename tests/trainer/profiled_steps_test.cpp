// Runs with --profile: which steps are measured, what the files hold, and nothing else changes.
#include "trainer/profiled_steps.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "core/files.h"
#include "core/json.h"
#include "tests/core/scratch.h"
#include "trainer/train.h"

namespace renar::profiled_steps_test {
namespace {

Config config_of(int steps, bool profile) {
  Config config;
  config.algo = {"bfs"};
  config.hidden = 8;
  config.triplet_fts = 4;
  config.steps = steps;
  config.batch = 4;
  config.train_lengths = {4};
  config.val_samples = 4;
  config.test_lengths = {4};
  config.test_samples = 2;
  config.device = "cpu";
  config.threads = 2;
  config.quiet = true;
  config.profile = profile;
  complete_method(config);
  return config;
}

RunDirectory run(const Config& config, const std::string& path) {
  const RunDirectory directory(path);
  RunResult result;
  CHECK(train(config, directory, RunPlan::kFresh, result) == Ending::kFinished);
  return directory;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int calls_of_step(const std::string& text) {
  const std::string line = "\nstep ";
  return std::stoi(text.substr(text.find(line) + line.size()));
}

TEST_CASE("profiled_steps: five steps after three, or all of a short run") {
  const Scratch scratch;
  const std::string eight = read_file(run(config_of(8, true), scratch.path("8")).profile());
  CHECK(has(eight, "steps 4 to 8 of 8"));
  CHECK(calls_of_step(eight) == 5);
  const std::string seven = read_file(run(config_of(7, true), scratch.path("7")).profile());
  CHECK(has(seven, "steps 1 to 5 of 7"));
  const std::string two = read_file(run(config_of(2, true), scratch.path("2")).profile());
  CHECK(has(two, "steps 1 to 2 of 2"));
  CHECK(calls_of_step(two) == 2);
  CHECK(has(two, "bfs, baseline, triplet_gmpnn on "));
  for (const char* range :
       {"wait for data", "gradients", "encode", "processor", "messages", "triplets", "decode hints",
        "losses", "feed back", "carry", "decode outputs", "optimizer", "predict"}) {
    CAPTURE(std::string(range));
    CHECK(has(two, std::string(" ") + range + "  "));
  }
  CHECK(!profile_wanted(kProfileTimes));
}

TEST_CASE("profiled_steps: the trace of a run is JSON, with its threads and its ops") {
  const Scratch scratch;
  const RunDirectory directory = run(config_of(3, true), scratch.path("run"));
  const auto json = parse_json(read_file(directory.profile_trace()));
  int steps = 0, losses = 0;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    CHECK(event["dur"].get<double>() >= 0);
    steps += event["name"] == "step";
    losses += event["name"] == "cross_entropy (backward)";
  }
  CHECK(steps == 1);
  CHECK(losses > 0);
  const std::string summary = profile_summary(directory);
  CHECK(summary.starts_with("\nprofile of bfs, "));
  CHECK(has(summary, directory.profile()));
  CHECK(std::count(summary.begin(), summary.end(), '\n') == 1 + 2 + 1 + 15 + 1);
}

TEST_CASE("profiled_steps: a run without it has no files of it and the same numbers") {
  const Scratch scratch;
  for (const char* method : {"baseline", "mrenar"}) {
    Config plain = config_of(9, false), profiled = config_of(9, true);
    plain.method = profiled.method = method;
    plain.rec_weight = profiled.rec_weight = kOfMethod;
    plain.mask_ratio = profiled.mask_ratio = kOfMethod;
    complete_method(plain);
    complete_method(profiled);
    const RunDirectory a = run(plain, scratch.path(std::string("a") + method)),
                       b = run(profiled, scratch.path(std::string("b") + method));
    CHECK(!std::filesystem::exists(a.profile()));
    CHECK(!std::filesystem::exists(a.profile_trace()));
    CHECK(std::filesystem::exists(b.profile_trace()));
    CHECK(read_file(a.best()) == read_file(b.best()));
    CHECK(read_file(a.config()) == read_file(b.config()));
  }
}

}  // namespace
}  // namespace renar::profiled_steps_test
