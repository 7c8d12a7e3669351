// The grid of a sweep: which runs it has, what they are called, and what is refused in which words.
#include "trainer/sweep_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/files.h"
#include "tests/core/scratch.h"
#include "tests/source_dir.h"
#include "tools/valid_names.h"
#include "trainer/ledger.h"

namespace renar::sweep_file_test {
namespace {

const ValidNames kValid = {
    {"bfs", "dfs", "minimum"}, {"bfs", "dfs"}, {"mpnn", "pgn", "triplet_gmpnn"}};

/// The sweep of a file with this text, called f.toml in messages.
Sweep sweep_of(const std::string& text, Flags flags = {}) {
  const Scratch scratch;
  flags["sweep"] = scratch.path("f.toml");
  write_file_atomically(flags["sweep"], text);
  try {
    Sweep sweep = read_sweep(flags, kValid);
    CHECK(scratch.files() == 1);
    return sweep;
  } catch (const UsageError& error) {
    std::string line = error.what();
    const std::size_t place = line.find(flags["sweep"]);
    if (place != std::string::npos) line.replace(place, flags["sweep"].size(), "f.toml");
    throw UsageError(line);
  }
}

std::string refusal(const std::string& text, const Flags& flags = {}) {
  try {
    sweep_of(text, flags);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<std::string> names(const Sweep& sweep) {
  std::vector<std::string> list;
  for (const SweepRun& run : sweep.runs) list.push_back(run.name);
  return list;
}

using Words = std::vector<std::string>;

TEST_CASE("sweep_file: every combination, the last key fastest") {
  const Sweep sweep = sweep_of(
      "steps = 7\nthreads = 2\n[grid]\nseed = [3, 1]\nalgo = ['dfs', 'bfs']\nbatch = [5]\n");
  CHECK(names(sweep) ==
        Words{"seed=3 algo=dfs", "seed=3 algo=bfs", "seed=1 algo=dfs", "seed=1 algo=bfs"});
  const SweepRun& run = sweep.runs[1];
  CHECK(run.config.algo == Words{"bfs"});
  CHECK(run.config.seed == 3);
  CHECK(run.config.steps == 7);
  CHECK(run.config.threads == 2);
  CHECK(run.config.batch == 5);
  CHECK(run.config.out == "runs/bfs-baseline-3-batch=5");
  CHECK(run.column == "");
  CHECK(run.hash == config_hash(run.config));
  CHECK(sweep.ledger == "results/ledger.jsonl");
  CHECK_FALSE(sweep.table_only);
}

TEST_CASE("sweep_file: variants are what no product says") {
  const Sweep sweep = sweep_of(
      "algo = 'dfs'\nlr = 0.5\n[grid]\nseed = [1, 2]\n[[variant]]\nprocessor = 'mpnn'\n"
      "[[variant]]\nprocessor = 'pgn'\nlr = [0.001, 1e-4]\n");
  CHECK(names(sweep) == Words{"seed=1 processor=mpnn", "seed=1 processor=pgn lr=0.001",
                              "seed=1 processor=pgn lr=0.0001", "seed=2 processor=mpnn",
                              "seed=2 processor=pgn lr=0.001", "seed=2 processor=pgn lr=0.0001"});
  CHECK(sweep.runs[0].config.lr == 0.5);
  CHECK(sweep.runs[2].config.lr == 1e-4);
  CHECK(sweep.runs[0].column == "mpnn");
  CHECK(sweep.runs[2].column == "pgn lr=0.0001");
  CHECK(sweep.runs[5].config.out == "runs/dfs-baseline-2-processor=pgn-lr=0.0001");
}

TEST_CASE("sweep_file: settings that are lists take lists") {
  const Sweep sweep = sweep_of(
      "[grid]\nalgo = ['dfs', ['dfs', 'bfs'], 'minimum,bfs', 'all']\ntrain-lengths = [[4, 7], "
      "[8]]\n"
      "p = [[], [0.5]]\n",
      {{"out", "there"}});
  REQUIRE(sweep.runs.size() == 16);
  CHECK(sweep.runs[0].name == "algo=dfs train-lengths=4,7 p=default");
  CHECK(sweep.runs[0].column == "train-lengths=4,7 p=default");
  CHECK(sweep.runs[0].config.train_lengths == std::vector<int>{4, 7});
  CHECK(sweep.runs[3].config.train_lengths == std::vector<int>{8});
  CHECK(sweep.runs[3].config.p == std::vector<double>{0.5});
  CHECK(sweep.runs[3].config.out == "there/dfs-baseline-42-train-lengths=8-p=0.5");
  CHECK(sweep.runs[8].config.algo == Words{"minimum", "bfs"});
  CHECK(sweep.runs[8].column == "minimum+bfs train-lengths=4,7 p=default");
  CHECK(refusal("[grid]\nalgo = ['bfs', ['bfs']]\n") == "f.toml: algo in [grid] has bfs twice");
}

TEST_CASE("sweep_file: those of tools are sweeps") {
  const auto runs_of = [](const std::string& name) {
    return read_sweep({{"sweep", test::source_dir() + "/tools/" + name}}, valid_names())
        .runs.size();
  };
  CHECK(runs_of("sweep_example.toml") == 12);
  CHECK(runs_of("sweep_paper.toml") == 30 * 4 * 7);
}

TEST_CASE("sweep_file: the paper's comparison, a column a method and mask ratio") {
  const Sweep sweep = sweep_of(
      "[grid]\nalgo = ['bfs']\n[[variant]]\nmethod = 'baseline'\n[[variant]]\nmethod = 'renar'\n"
      "[[variant]]\nmethod = 'mrenar'\nmask-ratio = [0.1, 0.9]\n");
  REQUIRE(sweep.runs.size() == 4);
  CHECK(sweep.runs[0].column == "baseline");
  CHECK(sweep.runs[1].column == "renar");
  CHECK(sweep.runs[3].column == "mrenar mask-ratio=0.9");
  CHECK(sweep.runs[1].config.rec_weight == 0.1);
  CHECK(sweep.runs[3].config.rec_weight == 1);
  CHECK(sweep.runs[3].config.out == "runs/bfs-mrenar-42-mask-ratio=0.9");
  CHECK(refusal("[grid]\nalgo = ['bfs']\nmethod = ['baseline', 'mrenar']\nmask-ratio = [0.1]\n") ==
        "f.toml: run \"algo=bfs method=baseline\": --mask-ratio and --mask-rounds are of --method "
        "mrenar, not of baseline");
}

TEST_CASE("sweep_file: no two runs share a directory") {
  // Names of many algorithms are cut to their number: here both are 3-algorithms.
  ValidNames valid = kValid;
  const std::string longest(40, 'x');
  valid.algorithms = {longest + "1", longest + "2", longest + "3", longest + "4"};
  const auto list = [&](const char* last) {
    return "['" + longest + "1', '" + longest + "2', '" + longest + last + "']";
  };
  const Scratch scratch;
  const std::string path = scratch.path("f.toml");
  write_file_atomically(path, "[grid]\nalgo = [" + list("3") + ", " + list("4") + "]\n");
  const Sweep sweep = read_sweep({{"sweep", path}}, valid);
  REQUIRE(sweep.runs.size() == 2);
  CHECK(sweep.runs[0].config.out == "runs/3-algorithms-baseline-42-" + sweep.runs[0].hash);
  CHECK(sweep.runs[1].config.out == "runs/3-algorithms-baseline-42-" + sweep.runs[1].hash);
  CHECK(sweep.runs[0].hash != sweep.runs[1].hash);
}

TEST_CASE("sweep_file: flags count for all runs and weigh more than the top of the file") {
  const std::string text = "algo = 'dfs'\nsteps = 7\n[grid]\nseed = [1, 2]\n";
  const Sweep sweep = sweep_of(text, {{"steps", "9"},
                                      {"quiet", "true"},
                                      {"table", "true"},
                                      {"ledger", "l.jsonl"},
                                      {"overwrite", "true"}});
  CHECK(sweep.runs[1].config.steps == 9);
  CHECK(sweep.runs[1].config.quiet);
  CHECK(sweep.quiet);
  CHECK(sweep.table_only);
  CHECK(sweep.overwrite);
  CHECK(sweep.ledger == "l.jsonl");
  CHECK(
      refusal(text, {{"seed", "3"}}) ==
      "f.toml: seed in [grid] and the flag --seed say different things: leave out one of the two");
  CHECK(refusal(text, {{"resume", "runs/x"}}).starts_with("--resume continues one run"));
  CHECK(refusal(text, {{"config", "x"}}).ends_with("leave out --config"));
}

TEST_CASE("sweep_file: what is wrong is named in one line") {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"steps = 7\n", "f.toml has no [grid] with lists of values: a single run takes --config"},
      {"[grid]\n", "f.toml: [grid] is empty"},
      {"[grid]\nsed = [1]\n", "f.toml: sed is not a setting; did you mean seed?"},
      {"setps = 1\n[grid]\nseed = [1]\n", "f.toml: setps is not a setting; did you mean steps?"},
      {"[gird]\nseed = [1]\n", "f.toml: [gird] is not a part of a sweep; did you mean [grid]?"},
      {"[grid]\nseed = []\n", "f.toml: seed in [grid] is an empty list: it needs a value"},
      {"[grid]\nseed = [1, 'x']\n", "f.toml: seed in [grid] must be a whole number"},
      {"[grid]\nlr = [0.1, -1]\n", "f.toml: lr in [grid] takes a number above 0"},
      {"[grid]\nseed = [1, 2, 1]\n", "f.toml: seed in [grid] has 1 twice"},
      {"[grid]\nalgo = ['dsf']\n", "f.toml: algo in [grid] does not know \"dsf\"; did you mean"},
      {"[grid]\ntrain-lengths = [4, 7]\n", "f.toml: train-lengths in [grid] needs a list for each"},
      {"[grid]\nthreads = [1, 2]\n", "f.toml: threads in [grid] changes nothing that is computed"},
      {"[grid]\nout = ['x']\n", "f.toml: out belongs to one call: give it as the flag --out"},
      {"[grid]\nseed = [1]\n", "f.toml: --algo is missing"},
      {"algo = 'dfs'\nseed = [1]\n[grid]\nlr = [1]\n", "f.toml: seed has one value here; a list"},
      {"seed = 1\n[grid]\nseed = [1]\n", "f.toml: seed stands in [grid] and in the top lines"},
      {"[grid]\nseed = [1]\n[[variant]]\nseed = 1\n",
       "f.toml: seed stands in [grid] and in [[variant]]"},
      {"[grid]\ntrain-lengths = [[4]]\ntrain_lengths = [[5]]\n",
       "f.toml: train_lengths stands twice in [grid]"},
      {"[[variant]]\nval-length = 4\nval_length = 5\n", "f.toml: [[variant]] has val_length twice"},
      {"algo = 'dfs'\n[[variant]]\nlr = 0.1\n[[variant]]\nlr = [0.2, 0.1]\n",
       "f.toml: the runs \"lr=0.1\" and \"lr=0.1\" are the same: leave out one"},
      {"grid = 3\n", "f.toml: grid is a table of lists"},
      {"[variant]\nlr = 1\n", "f.toml: each variant is a table of its own: [[variant]]"},
      {"[grid\n", "f.toml is not TOML: line 1"},
  };
  for (const auto& [text, words] : wrong) {
    CAPTURE(text);
    CHECK(refusal(text).substr(0, words.size()) == words);
  }
}

TEST_CASE("sweep_file: a grid may have 100000 runs and no more") {
  const auto numbers = [](int count) {
    std::string list;
    for (int i = 1; i <= count; ++i) list += std::to_string(i) + ",";
    return "[" + list + "]";
  };
  const std::string two =
      "algo = 'dfs'\n[grid]\nseed = " + numbers(100) + "\nsteps = " + numbers(250);
  CHECK(refusal(two + "\nbatch = [1, 2, 3, 4, 5]\n") ==
        "f.toml has 125000 runs, more than 100000: split it");
  std::set<std::string> hashes, folders;
  for (const SweepRun& run : sweep_of(two).runs) {
    hashes.insert(run.hash);
    folders.insert(run.config.out);
  }
  CHECK(hashes.size() == 25000);
  CHECK(folders.size() == 25000);
}

}  // namespace
}  // namespace renar::sweep_file_test
