// What a call of renar_train may do with a directory that is, or is not, a run's.
#include "trainer/run_directory.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "tests/core/scratch.h"
#include "trainer/train.h"

namespace renar::run_directory_test {
namespace {

const ValidNames kValid = {{"bfs", "dfs"}, {}, {"mpnn", "triplet_gmpnn"}};

Config config_of(int steps) {
  Config config;
  config.algo = {"bfs"};
  config.steps = steps;
  config.val_length = 16;
  complete_method(config);
  return config;
}

void write(const std::string& path, const std::string& text = "") {
  write_file_atomically(path, text);
}

bool exists(const std::string& path) { return std::filesystem::exists(path); }

void finish(const RunDirectory& run, int steps) {
  RunResult result;
  result.steps = steps;
  result.algorithms = {{"bfs", 0.5, 16, {Evaluation{}}}};
  write_summary(run.summary(), result);
}

struct Subject {
  RunPlan plan(const Config& config) const { return run.plan(config, kValid); }

  Scratch scratch;
  RunDirectory run{scratch.path("run")};
};

TEST_CASE("run_directory: fresh, continued, finished") {
  const Subject s;
  CHECK(s.plan(config_of(10)) == RunPlan::kFresh);
  CHECK(!exists(s.run.path()));  // plan changes nothing
  (void)s.run.begin(config_of(10), RunPlan::kFresh);
  CHECK(s.plan(config_of(10)) == RunPlan::kFresh);  // stopped before its first checkpoint
  write(s.run.last());
  CHECK(s.plan(config_of(10)) == RunPlan::kContinue);
  finish(s.run, 10);
  CHECK(s.plan(config_of(10)) == RunPlan::kFinished);
  const std::string whole = read_file(s.run.summary());
  Json no_algorithms = parse_json(whole), no_tests = no_algorithms;
  no_algorithms["algorithms"] = Json::array();
  no_tests["algorithms"][0]["tests"] = Json::array();
  for (const std::string& damaged :
       {std::string(), whole.substr(0, whole.size() / 2), std::string("{\"steps\": 10}"),
        std::string("[10]"), no_algorithms.dump(), no_tests.dump()}) {
    write(s.run.summary(), damaged);
    CHECK(s.plan(config_of(10)) == RunPlan::kContinue);
    CHECK_THROWS_AS(read_summary(s.run.summary()), Error);
  }
  Config more = config_of(20);
  more.resume = s.run.path();
  CHECK(s.plan(more) == RunPlan::kContinue);
  Config again = config_of(10);
  again.overwrite = true;
  CHECK(s.plan(again) == RunPlan::kFresh);
}

TEST_CASE("run_directory: an empty directory is as good as none") {
  const Subject s;
  std::filesystem::create_directory(s.run.path());
  CHECK(s.plan(config_of(10)) == RunPlan::kFresh);
}

TEST_CASE("run_directory: another configuration is named, machine settings may differ") {
  const Subject s;
  (void)s.run.begin(config_of(10), RunPlan::kFresh);
  write(s.run.last());
  Config other = config_of(10);
  other.threads = 3;
  CHECK(s.plan(other) == RunPlan::kContinue);
  other.lr = 0.5;
  CHECK_THROWS_WITH_AS(s.plan(other), doctest::Contains("lr: 0.001 there, 0.5 here"), UsageError);
  other.overwrite = true;
  CHECK(s.plan(other) == RunPlan::kFresh);
}

TEST_CASE("run_directory: who asks for more steps is told how to go on, who asks for less is not") {
  const Subject s;
  (void)s.run.begin(config_of(10), RunPlan::kFresh);
  CHECK_THROWS_WITH_AS(s.plan(config_of(20)), doctest::Contains("with 10 steps: --resume"),
                       UsageError);
  CHECK_THROWS_WITH_AS(s.plan(config_of(20)), doctest::Contains("--steps 20 goes on"), UsageError);
  CHECK_THROWS_WITH_AS(s.plan(config_of(5)), doctest::Contains("steps: 10 there, 5 here"),
                       UsageError);
  Config other = config_of(20);
  other.lr = 0.5;
  CHECK_THROWS_WITH_AS(s.plan(other), doctest::Contains("lr: 0.001 there, 0.5 here"), UsageError);
}

TEST_CASE("run_directory: what is not a run's is left alone") {
  const Subject s;
  write(s.run.path(), "");
  CHECK_THROWS_WITH_AS(s.plan(config_of(10)), doctest::Contains("is not a directory"), UsageError);
  std::filesystem::remove(s.run.path());
  std::filesystem::create_directory(s.run.path());
  write(s.run.path() + "/thesis.tex");
  Config config = config_of(10);
  for (const bool overwrite : {false, true}) {
    config.overwrite = overwrite;
    CHECK_THROWS_AS(s.plan(config), UsageError);
  }
  config.resume = s.run.path();
  CHECK_THROWS_WITH_AS(s.plan(config), doctest::Contains("no last.safetensors"), UsageError);
  CHECK(exists(s.run.path() + "/thesis.tex"));
}

TEST_CASE("run_directory: what a run was writing when it was killed is removed, and nothing else") {
  const Subject s;
  std::filesystem::create_directory(s.run.path());
  const std::string left = s.run.config() + ".tmp-12-0", other = s.run.path() + "/my.tmp-1-0";
  write(left);
  CHECK(s.plan(config_of(10)) == RunPlan::kFresh);  // it began and made no config.toml
  write(other);
  CHECK_THROWS_AS(s.plan(config_of(10)), UsageError);
  write(s.run.last() + ".tmp-3-11");
  write(s.run.last() + ".tmp-old");
  (void)s.run.begin(config_of(10), RunPlan::kFresh);
  CHECK_FALSE(exists(left));
  CHECK_FALSE(exists(s.run.last() + ".tmp-3-11"));
  CHECK(exists(other));
  CHECK(exists(s.run.last() + ".tmp-old"));
}

TEST_CASE("run_directory: of two runs at once the second is refused, and loses nothing") {
  const Subject s;
  {
    const DirectoryLock first = s.run.begin(config_of(10), RunPlan::kFresh);
    write(s.run.metrics());
    CHECK_THROWS_WITH_AS((void)s.run.begin(config_of(20), RunPlan::kFresh),
                         doctest::Contains("another program is at work in"), Error);
    CHECK(exists(s.run.metrics()));
    CHECK(read_run_config(s.run.path(), kValid).steps == 10);
  }
  (void)s.run.begin(config_of(20), RunPlan::kFresh);
  CHECK_FALSE(exists(s.run.metrics()));
}

TEST_CASE("run_directory: a fresh run removes an older run's files, a continued one its ending") {
  const Subject s;
  (void)s.run.begin(config_of(10), RunPlan::kFresh);
  const std::string run[] = {s.run.metrics(), s.run.best(), s.run.last()};
  const std::string ending[] = {s.run.summary(), s.run.curves()};
  for (const std::string& file : run) write(file);
  for (const std::string& file : ending) write(file);
  write(s.run.path() + "/notes.txt");
  (void)s.run.begin(config_of(20), RunPlan::kContinue);
  for (const std::string& file : run) CHECK(exists(file));
  for (const std::string& file : ending) CHECK(!exists(file));
  CHECK(read_run_config(s.run.path(), kValid).steps == 20);
  Config anew = config_of(20);
  anew.overwrite = true;
  (void)s.run.begin(anew, RunPlan::kFresh);
  for (const std::string& file : run) CHECK(!exists(file));
  CHECK(exists(s.run.path() + "/notes.txt"));
}

TEST_CASE("run_directory: what another program leaves between plan and beginning is not lost") {
  const Subject s;
  REQUIRE(s.plan(config_of(20)) == RunPlan::kFresh);
  (void)s.run.begin(config_of(10), RunPlan::kFresh);
  write(s.run.last());
  CHECK_THROWS_WITH_AS((void)s.run.begin(config_of(20), RunPlan::kFresh),
                       doctest::Contains("another program has worked in"), DirectoryInUse);
  CHECK(exists(s.run.last()));
  CHECK(read_run_config(s.run.path(), kValid).steps == 10);
  (void)s.run.begin(config_of(10), RunPlan::kContinue);
  finish(s.run, 10);
  CHECK_THROWS_AS((void)s.run.begin(config_of(10), RunPlan::kContinue), DirectoryInUse);
  CHECK(exists(s.run.summary()));
}

TEST_CASE("run_directory: a beginning that is cut short leaves no checkpoint of the run before") {
  const Subject s;
  (void)s.run.begin(config_of(10), RunPlan::kFresh);
  write(s.run.last());
  std::filesystem::remove(s.run.config());
  std::filesystem::create_directory(s.run.config());  // cannot be written
  Config anew = config_of(20);
  anew.overwrite = true;
  CHECK_THROWS_AS((void)s.run.begin(anew, RunPlan::kFresh), Error);
  CHECK_FALSE(exists(s.run.last()));
}

}  // namespace
}  // namespace renar::run_directory_test
