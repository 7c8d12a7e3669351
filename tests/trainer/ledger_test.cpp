// The ledger: what a hash depends on, what a line says, and files that are not as they should be.
#include "trainer/ledger.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "tests/core/scratch.h"
#include "trainer/settings.h"

namespace renar::ledger_test {
namespace {

Config config_of(std::uint32_t seed) {
  Config config;
  config.algo = {"bfs"};
  config.seed = seed;
  complete(config, {});
  return config;
}

RunResult result_with(double score, std::uint32_t seed) {
  RunResult result;
  result.algorithms = {{"bfs", 0.75, 16, {{score, 0.25, {{"pi", score, 0.25}}, 32, 64}}}};
  result.processor = "mpnn";
  result.seed = seed;
  result.seconds = 12.5;
  return result;
}

/// A finished run in the folder `name`.
RunDirectory finished_run(const Scratch& scratch, const std::string& name, double score,
                          std::uint32_t seed) {
  RunDirectory directory(scratch.path(name));
  const DirectoryLock lock = directory.begin(config_of(seed), RunPlan::kFresh);
  write_summary(directory.summary(), result_with(score, seed));
  return directory;
}

/// How many of the runs with the seeds 1 and 2 are there.
int results(const Ledger& ledger) {
  return ledger.has_result(config_hash(config_of(1))) +
         ledger.has_result(config_hash(config_of(2)));
}

TEST_CASE("ledger: the hash is of what is computed, and of nothing else") {
  const std::string hash = config_hash(config_of(1));
  // fnv1a("algo=bfs\nseed=1\n"), as another program finds it
  CHECK(hash == "ed12a96d065c607b");
  CHECK(config_hash(config_of(2)) != hash);
  CHECK(config_hash(config_of(42)) != hash);
  for (const Setting& setting : settings({})) {
    Config other = config_of(1);
    const bool counts = setting.group != Group::kMachine && setting.group != Group::kCall;
    if (const auto* number = std::get_if<int Config::*>(&setting.member)) {
      other.*(*number) += 1;
    } else if (const auto* truth = std::get_if<bool Config::*>(&setting.member)) {
      other.*(*truth) = true;
    } else if (const auto* text = std::get_if<std::string Config::*>(&setting.member)) {
      other.*(*text) += "x";
    } else if (const auto* real = std::get_if<double Config::*>(&setting.member)) {
      other.*(*real) = std::nextafter(other.*(*real), 2);
    } else {
      continue;
    }
    CAPTURE(setting.name);
    CHECK((config_hash(other) != hash) == counts);
  }
}

TEST_CASE("ledger: a line has what the summary has, and is read again") {
  const Scratch scratch;
  const std::string path = scratch.path("results/ledger.jsonl");
  const RunDirectory directory = finished_run(scratch, "run", 0.5, 7);
  append_finished(path, config_of(7), directory);
  const Json line = parse_json(read_file(path));
  const Json summary = parse_json(read_file(directory.summary()));
  for (const auto& [key, value] : summary.items()) CHECK(line.at(key) == value);
  CHECK(line.at("config") == Json{{"algo", {"bfs"}}, {"seed", 7}});
  CHECK(line.at("directory") == directory.path());
  const std::string date = line.at("date");
  CHECK(date.size() == 20);
  CHECK(date[10] == 'T');
  CHECK(date.back() == 'Z');

  const Ledger ledger(path);
  CHECK(ledger.remarks().empty());
  const LedgerEntry* entry = ledger.find(config_hash(config_of(7)));
  REQUIRE(entry != nullptr);
  CHECK(entry->error == "");
  CHECK(entry->commit == summary.at("commit"));
  CHECK(entry->result.score(0) == 0.5);
  CHECK(entry->result.trivial(0) == 0.25);
  CHECK(entry->result.seconds == 12.5);
  CHECK(ledger.has_result(config_hash(config_of(7))));
  CHECK(ledger.find(config_hash(config_of(8))) == nullptr);
  CHECK_FALSE(ledger.has_result(config_hash(config_of(8))));
}

TEST_CASE("ledger: a failed run has a line with the reason") {
  const Scratch scratch;
  const std::string path = scratch.path("ledger");
  const RunDirectory directory(scratch.path("run"));
  append_failed(path, config_of(7), directory, "the loss of\nstep 3 is \"nan\" \xff");
  const Ledger ledger(path);
  CHECK(ledger.remarks().empty());
  const LedgerEntry* entry = ledger.find(config_hash(config_of(7)));
  REQUIRE(entry != nullptr);
  CHECK(entry->error == "the loss of\nstep 3 is \"nan\" \xef\xbf\xbd");
  const Json line = parse_json(read_file(path));
  CHECK(line.at("algo") == "bfs");
  CHECK(line.at("processor") == "triplet_gmpnn");
  CHECK(line.at("seed") == 7);
  CHECK(line.at("steps") == 10000);
  CHECK_FALSE(line.contains("score"));
}

TEST_CASE("ledger: a run that failed as there is no such machine has its line") {
  const Scratch scratch;
  const std::string path = scratch.path("ledger");
  Config config = config_of(7);
  config.device = "cpu";
  config.precision = "bf16";
  append_failed(path, config, RunDirectory(scratch.path("run")), "no bf16 there");
  CHECK(Ledger(path).find(config_hash(config))->error == "no bf16 there");
  CHECK(parse_json(read_file(path)).at("device") == "cpu, bf16");
}

TEST_CASE("ledger: paths that are no UTF-8 do not keep a run from its line") {
  const Scratch scratch;
  const std::string path = scratch.path("ledger");
  const RunDirectory directory = finished_run(scratch, "bad\xff", 0.5, 1);
  append_finished(path, config_of(1), directory);
  append_failed(path, config_of(2), directory, "why");
  const Ledger ledger(path);
  CHECK(ledger.remarks().empty());
  CHECK(ledger.has_result(config_hash(config_of(1))));
  CHECK(ledger.find(config_hash(config_of(2)))->error == "why");
  CHECK(read_file(path).find("/bad\xef\xbf\xbd\"") != std::string::npos);
}

TEST_CASE("ledger: of several lines of a run the last that finished counts") {
  const Scratch scratch;
  const std::string path = scratch.path("ledger");
  const Config config = config_of(1);
  const std::string hash = config_hash(config);
  const RunDirectory directory = finished_run(scratch, "run", 0.5, 1);
  append_failed(path, config, directory, "first");
  append_failed(path, config, directory, "second");
  CHECK(Ledger(path).find(hash)->error == "second");
  CHECK_FALSE(Ledger(path).has_result(hash));
  append_finished(path, config, directory);
  append_failed(path, config, directory, "third");
  CHECK(Ledger(path).find(hash)->error == "");

  Json again = parse_json(read_file(directory.summary()));
  again["config_hash"] = hash;
  again["algorithms"][0]["tests"][0]["score"] = 0.875;
  append_line(path, again.dump());
  CHECK(Ledger(path).find(hash)->result.score(0) == 0.875);
}

TEST_CASE("ledger: foreign lines and a cut one are told and left out") {
  const Scratch scratch;
  const std::string path = scratch.path("ledger");
  CHECK(results(Ledger(path)) == 0);
  append_line(path, "{\"loss\": 3}");
  append_finished(path, config_of(1), finished_run(scratch, "one", 0.5, 1));
  append_line(path, "not JSON");
  append_line(path, "");
  append_line(path, "[1, 2]");
  Json untested = parse_json(read_file(scratch.path("one/summary.json")));
  untested["config_hash"] = "x";
  untested["algorithms"] = Json::array();
  append_line(path, untested.dump());
  append_line(path, "{\"config_hash\": 3, \"commit\": \"x\", \"error\": \"y\"}");
  append_finished(path, config_of(2), finished_run(scratch, "two", 0.5, 2));
  const Ledger whole(path);
  CHECK(results(whole) == 2);
  REQUIRE(whole.remarks().size() == 1);
  CHECK(whole.remarks()[0] == path + ": 5 lines are not a run's, left out (the first is line 1)");

  const std::string text = read_file(path);
  write_file_atomically(path, text.substr(0, text.size() - 1));  // only its end is lost
  CHECK(results(Ledger(path)) == 2);
  write_file_atomically(path, text.substr(0, text.size() - 2));
  const Ledger cut(path);
  CHECK(results(cut) == 1);
  CHECK(cut.find(config_hash(config_of(2))) == nullptr);
  REQUIRE(cut.remarks().size() == 2);
  CHECK(cut.remarks()[0] == path + ", line 8, the last, is cut off: that run counts as not done");

  append_finished(path, config_of(2), RunDirectory(scratch.path("two")));
  CHECK(results(Ledger(path)) == 2);
  CHECK(Ledger(path).remarks().size() == 1);  // the cut line is a foreign one now
}

TEST_CASE("ledger: a damaged summary is no result") {
  const Scratch scratch;
  const RunDirectory directory = finished_run(scratch, "run", 0.5, 1);
  write_file_atomically(directory.summary(), "{\"score\": 1}");
  CHECK_THROWS_AS(append_finished(scratch.path("ledger"), config_of(1), directory), Error);
  CHECK_THROWS_AS(Ledger(scratch.path(".")), Error);
}

}  // namespace
}  // namespace renar::ledger_test
