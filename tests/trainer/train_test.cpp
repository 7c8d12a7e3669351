// Whole runs, small: a resumed run is the run that was never stopped, and a run that fails keeps
// its last checkpoint.
#include "trainer/train.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "tests/core/scratch.h"
#include "tests/nn/small.h"
#include "tests/support_device.h"
#include "trainer/checkpoint.h"
#include "trainer/metrics.h"

namespace renar::train_test {
namespace {

Config config_of(int steps, int eval_every = 2) {
  Config config;
  config.algo = {"dfs"};
  config.hidden = 8;
  config.triplet_fts = 4;
  config.steps = steps;
  config.batch = 4;
  config.train_lengths = {4};
  config.val_length = 4;
  config.eval_every = eval_every;
  config.test_lengths = {4};
  config.test_samples = 8;
  config.threads = 1;
  config.quiet = true;
  complete_method(config);
  return config;
}

RunResult run(const Config& config, const RunDirectory& directory, RunPlan plan) {
  RunResult result;
  CHECK(train(config, directory, plan, result) == Ending::kFinished);
  return result;
}

/// metrics.jsonl without the clock.
std::vector<std::string> metrics(const RunDirectory& directory) {
  std::vector<std::string> lines;
  for (Json line : read_metrics(directory.metrics())) {
    line.erase("seconds");
    lines.push_back(line.dump());
  }
  return lines;
}

std::vector<Real> values(const Net& net) {
  return {net.parameters().values(), net.parameters().values() + net.parameters().size()};
}

struct Saved {
  explicit Saved(const RunDirectory& directory,
                 const std::vector<std::string>& algorithms = {"dfs"})
      : config(config_of(1)),
        best(tasks(config, algorithms), net_options(config)),
        last(tasks(config, algorithms), net_options(config)),
        state(load_state(directory.last(), join(algorithms), last)) {
    load_parameters(directory.best(), join(algorithms), best);
  }
  static std::vector<Task> tasks(Config& config, const std::vector<std::string>& algorithms) {
    config.algo = algorithms;
    return tasks_of(config);
  }

  Config config;
  Net best, last;
  TrainState state;
};

TEST_CASE("train: six steps in one go are three and three, to the bit") {
  const Scratch scratch;
  const RunDirectory whole(scratch.path("whole")), parts(scratch.path("parts"));
  const RunResult a = run(config_of(6), whole, RunPlan::kFresh);
  run(config_of(3), parts, RunPlan::kFresh);
  CHECK(Saved(parts).state.step == 3);
  Config more = config_of(6);
  more.resume = parts.path();
  const RunPlan plan = parts.plan(more, {{"dfs"}, {}, processor_kinds()});
  CHECK(plan == RunPlan::kContinue);
  const RunResult b = run(more, parts, plan);

  CHECK(metrics(whole).size() == 6 + 4);  // validation after steps 0, 2, 4 and the last
  CHECK(metrics(parts) == metrics(whole));
  const Saved x(whole), y(parts);
  CHECK(values(x.best) == values(y.best));
  CHECK(values(x.last) == values(y.last));
  CHECK(x.state.step == 6);
  CHECK(x.state.optimizer.m == y.state.optimizer.m);
  CHECK(x.state.optimizer.v == y.state.optimizer.v);
  CHECK(x.state.optimizer.steps == y.state.optimizer.steps);
  CHECK(x.state.stream == y.state.stream);
  CHECK(x.state.best_score == y.state.best_score);
  CHECK(x.state.best_step == y.state.best_step);
  CHECK(a.val_score == b.val_score);
  CHECK(a.val_score == a.algorithms[0].val_score);
  REQUIRE(b.algorithms[0].tests.size() == 1);
  CHECK(a.score(0) == b.score(0));
  CHECK(b.algorithms[0].tests[0].samples == 8);
  const RunResult read = read_summary(parts.summary());
  CHECK(read.val_score == b.val_score);
  CHECK(read.algorithms[0].tests[0].score == b.score(0));
  CHECK(read.trivial(0) == b.trivial(0));
  CHECK(b.trivial(0) > 0);
  CHECK(std::filesystem::exists(parts.curves()));
  CHECK(b.data_wait_seconds > 0);  // the first batch has no step to be made in
  CHECK(read.data_wait_seconds == b.data_wait_seconds);

  CHECK(b.validation_seconds > 0);
  CHECK(read.validation_seconds == b.validation_seconds);
  CHECK(x.state.validation_seconds > 0);

  RunResult validated = b;  // the text speaks of it from 5 % on
  validated.seconds = 100;
  validated.validation_seconds = 4;
  CHECK(result_text(validated, parts).find("validations in") == std::string::npos);
  validated.validation_seconds = 200;
  CHECK(result_text(validated, parts).find("steps in 1 min 40 s, validations in 3 min 20 s, on ") !=
        std::string::npos);

  RunResult waited = b;  // the text speaks of it from 1 % on
  waited.seconds = 100;
  waited.data_wait_seconds = 0.9;
  CHECK(result_text(waited, parts).find("waited") == std::string::npos);
  waited.data_wait_seconds = 1.2;
  CHECK(result_text(waited, parts).find("training waited 1.2 s for its data\n") !=
        std::string::npos);
}

TEST_CASE("train: a resumed run of M-ReNAR has the same bits, and says what L_rec was") {
  for (const char* masking : {"paper", "authors"}) {
    const Scratch scratch;
    const auto config = [&](int steps) {
      Config c = config_of(steps);
      c.method = "mrenar", c.mask_ratio = 0.5, c.rec_weight = 1, c.masking = masking;
      return c;
    };
    const RunDirectory whole(scratch.path("whole")), parts(scratch.path("parts"));
    run(config(5), whole, RunPlan::kFresh);
    run(config(3), parts, RunPlan::kFresh);
    const RunResult b = run(config(5), parts, RunPlan::kContinue);
    CHECK(metrics(parts) == metrics(whole));
    CHECK(read_file(whole.metrics()).find("\"rec_loss\":") != std::string::npos);
    CHECK(b.method == "mrenar");
    CHECK(read_summary(parts.summary()).method == "mrenar");
  }
}

TEST_CASE("train: two algorithms take turns, and a resumed run of them has the same bits") {
  const Scratch scratch;
  const auto config = [](int steps) {
    Config both = config_of(steps);
    both.algo = {"dfs", "bfs"};
    return both;
  };
  const RunDirectory whole(scratch.path("whole")), parts(scratch.path("parts"));
  const RunResult a = run(config(6), whole, RunPlan::kFresh);
  run(config(3), parts, RunPlan::kFresh);
  const RunResult b = run(config(6), parts, RunPlan::kContinue);
  CHECK(metrics(parts) == metrics(whole));
  // an update each a step; after steps 0, 2, 4 and 5 a validation each and the mean
  REQUIRE(metrics(whole).size() == 6 * 2 + 4 * 3);
  REQUIRE(b.algorithms.size() == 2);
  CHECK(b.algorithms[1].algo == "bfs");
  CHECK(b.val_score ==
        doctest::Approx((b.algorithms[0].val_score + b.algorithms[1].val_score) / 2));
  CHECK(a.score(0) == b.score(0));
  CHECK(a.score(0) == (a.algorithms[0].tests[0].score + a.algorithms[1].tests[0].score) / 2);

  // Its first update is that of a run of dfs alone: batch, initial parameters and losses.
  const RunDirectory alone(scratch.path("alone"));
  run(config_of(1), alone, RunPlan::kFresh);
  CHECK(metrics(alone)[0] == metrics(whole)[0]);
}

TEST_CASE("train: a resumed run with all that is random in training has the same bits") {
  const Scratch scratch;
  const auto config = [](int steps) {
    Config random = config_of(steps);
    random.lstm = true;
    random.dropout = 0.25;
    random.hint_teacher_forcing = 0.5;
    return random;
  };
  const RunDirectory whole(scratch.path("whole")), parts(scratch.path("parts"));
  run(config(5), whole, RunPlan::kFresh);
  run(config(3), parts, RunPlan::kFresh);
  run(config(5), parts, RunPlan::kContinue);
  CHECK(metrics(parts) == metrics(whole));
  CHECK(read_file(parts.best()) == read_file(whole.best()));
}

TEST_CASE("train: a run on a device that is stopped and resumed has the same bits") {
  const auto device = test::accelerator();
  if (!device) return;
  for (const bool chunked : {false, true}) {
    const Scratch scratch;
    const auto config = [&](int steps) {
      Config there = config_of(steps, 1);
      there.algo = {"bfs"};
      there.device = name_of(*device);
      there.chunked = chunked;
      there.chunk_length = 3;
      return there;
    };
    const RunDirectory whole(scratch.path("whole")), parts(scratch.path("parts"));
    const RunResult a = run(config(4), whole, RunPlan::kFresh);
    run(config(2), parts, RunPlan::kFresh);
    const RunResult b = run(config(4), parts, RunPlan::kContinue);
    CHECK(metrics(parts) == metrics(whole));
    const Saved x(whole, {"bfs"}), y(parts, {"bfs"});
    CHECK(values(x.last) == values(y.last));
    CHECK(values(x.best) == values(y.best));
    CHECK(values(x.last) != values(Net(tasks_of(config(4)), net_options(config(4)))));
    CHECK(x.state.optimizer.steps == 4);
    CHECK(x.state.optimizer.m == y.state.optimizer.m);
    CHECK(x.state.optimizer.v == y.state.optimizer.v);
    CHECK(a.score(0) == b.score(0));
  }
}

TEST_CASE("train: a loss on a device that is not finite leaves the last checkpoint" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  const Scratch scratch;
  const RunDirectory directory(scratch.path("run"));
  Config config = config_of(1);
  config.device = name_of(*device);
  run(config, directory, RunPlan::kFresh);
  const Saved before(directory);
  config.steps = 5;
  config.lr = 1e30;
  RunResult result;
  CHECK_THROWS_WITH_AS(train(config, directory, RunPlan::kContinue, result),
                       doctest::Contains("the loss of step 2 is"), Error);
  CHECK(values(Saved(directory).last) == values(before.last));
}

TEST_CASE("train: a resumed run on chunks has the same bits, its carried states too") {
  const Scratch scratch;
  const auto config = [](int steps, const char* state) {
    Config chunks = config_of(steps);
    chunks.algo = {"dfs", "bfs"};
    chunks.train_lengths = {4, 5};
    chunks.lstm = true;
    chunks.hint_teacher_forcing = 0.5;
    chunks.chunked = true;
    chunks.chunk_length = 5;
    chunks.chunk_state = state;
    return chunks;
  };
  const auto whole_of = [&](const char* state) {
    const RunDirectory whole(scratch.path(state)), parts(scratch.path(std::string(state) + "_"));
    run(config(9, state), whole, RunPlan::kFresh);
    run(config(5, state), parts, RunPlan::kFresh);
    run(config(9, state), parts, RunPlan::kContinue);
    std::vector<std::string> lines = metrics(whole);
    CHECK(metrics(parts) == lines);
    CHECK(read_file(parts.best()) == read_file(whole.best()));
    Net a(tasks_of(config(9, state)), net_options(config(9, state)));
    Net b(tasks_of(config(9, state)), net_options(config(9, state)));
    const TrainState x = load_state(whole.last(), "dfs, bfs", a);
    const TrainState y = load_state(parts.last(), "dfs, bfs", b);
    CHECK(values(a) == values(b));
    CHECK(x.stream == y.stream);
    CHECK(x.carried == y.carried);
    CHECK(x.carried.size() == (std::string(state) == "carry" ? 4 : 0));
    return lines;
  };
  const std::vector<std::string> carried = whole_of("carry"), reset = whole_of("reset");
  CHECK(carried[0] == reset[0]);  // the first chunk starts anew either way
  CHECK(carried != reset);
}

TEST_CASE("train: hints are read and predicted as --hint-mode says") {
  const Scratch scratch;
  for (const std::string mode : {"encoded_decoded", "decoded_only", "none"}) {
    CAPTURE(mode);
    const RunDirectory directory(scratch.path(mode));
    Config config = config_of(2);
    config.hint_mode = mode;
    run(config, directory, RunPlan::kFresh);
    const auto line = read_metrics(directory.metrics())[0];
    CHECK(line.contains("hint_loss.pi_h") == (mode != "none"));
    CHECK((line["loss"] == line["output_loss"]) == (mode == "none"));
    const Net net(tasks_of(config), net_options(config));
    const auto has = [&](const std::string& name) {
      const auto& entries = net.parameters().entries();
      return std::any_of(entries.begin(), entries.end(),
                         [&](const auto& entry) { return entry.name == name; });
    };
    CHECK(has("dfs/encode/pi_h/w") == (mode == "encoded_decoded"));
    CHECK(has("dfs/decode/pi_h/0/w") == (mode != "none"));
  }
}

TEST_CASE("train: a frozen processor stays where it starts, all else learns") {
  const Scratch scratch;
  const RunDirectory directory(scratch.path("run"));
  Config config = config_of(3);
  config.freeze_processor = config.lstm = true;
  run(config, directory, RunPlan::kFresh);
  Net start(tasks_of(config), net_options(config)), end(tasks_of(config), net_options(config));
  load_parameters(directory.last(), "dfs", end);
  for (const auto& [name, param] : end.parameters().entries()) {
    if (!name.ends_with("/w")) continue;
    CAPTURE(name);
    const Real *before = start.parameters().at(param), *after = end.parameters().at(param);
    const bool same = std::equal(before, before + param.shape.size(), after);
    CHECK(same == name.starts_with("processor/"));
  }
}

TEST_CASE("train: how often it is evaluated does not change the training") {
  const Scratch scratch;
  const auto losses = [&](int eval_every) {
    const RunDirectory directory(scratch.path(std::to_string(eval_every)));
    run(config_of(5, eval_every), directory, RunPlan::kFresh);
    std::vector<double> found;
    for (const auto& line : read_metrics(directory.metrics())) {
      if (line.contains("loss")) found.push_back(line["loss"].get<double>());
    }
    return found;
  };
  const std::vector<double> often = losses(1);
  CHECK(often.size() == 5);
  CHECK(losses(3) == often);
}

/// What the lines of a run say about its validations.
struct Validations {
  int best_step = -1;
  double best = -1, last = -1;
};

Validations validations_of(const RunDirectory& directory) {
  Validations v;
  for (const auto& line : read_metrics(directory.metrics())) {
    if (!line.contains("val_score")) continue;
    v.last = line["val_score"].get<double>();
    if (v.last > v.best) v.best = v.last, v.best_step = line["step"].get<int>();
  }
  return v;
}

double test_score(const Net& net) {
  const Algorithm& dfs = find_algorithm("dfs");
  const TraceBatch traces = make_dataset(dfs, 4, 8, clrs30(Split::kTest).seed, dfs.dataset);
  const EvaluationSet test(net.spec(), traces, 8);
  ShardRunner runner(1);
  return test.score(net, runner).score;
}

void check_best(const RunResult& result, const RunDirectory& directory) {
  const Validations v = validations_of(directory);
  CHECK(result.best_step == v.best_step);
  CHECK(result.val_score == v.best);
  Saved saved(directory);
  CHECK(load_parameters(directory.best(), "dfs", saved.best) == v.best_step + 1);
  CHECK(result.score(0) == test_score(saved.best));
}

TEST_CASE(
    "train: the best parameters are those of the first best validation; the test reads them") {
  // Which seeds give scores that go up and down again is chance, so some are tried until the best
  // parameters and the last differ in numbers and in both scores.
  const Scratch scratch;
  bool seen = false;
  for (std::uint32_t seed = 1; seed <= 20 && !seen; ++seed) {
    CAPTURE(seed);
    const RunDirectory directory(scratch.path(std::to_string(seed)));
    Config config = config_of(12, 1);
    config.lr = 0.05;
    config.seed = seed;
    const RunResult result = run(config, directory, RunPlan::kFresh);
    check_best(result, directory);
    const Validations v = validations_of(directory);
    Saved saved(directory);
    seen = v.best_step > 0 && v.last < v.best && values(saved.best) != values(saved.last) &&
           test_score(saved.best) != test_score(saved.last);
  }
  CHECK(seen);
}

TEST_CASE("train: a resumed run misses its best parameters and its metrics at once") {
  const Scratch scratch;
  const RunDirectory directory(scratch.path("run"));
  run(config_of(4), directory, RunPlan::kFresh);
  const std::string best = read_file(directory.best());
  Config more = config_of(8);
  RunResult result;
  for (const std::string& damaged : {std::string(), best.substr(0, best.size() / 2)}) {
    write_file_atomically(directory.best(), damaged);
    CHECK_THROWS_AS(train(more, directory, RunPlan::kContinue, result), Error);
    CHECK(std::filesystem::exists(directory.summary()));  // nothing was begun
  }
  write_file_atomically(directory.best(), best);
  std::filesystem::remove(directory.metrics());
  CHECK_THROWS_WITH_AS(train(more, directory, RunPlan::kContinue, result),
                       doctest::Contains("has lost lines"), Error);
  CHECK(std::filesystem::exists(directory.summary()));
}

TEST_CASE("train: best parameters of a validation after the checkpoint are not the checkpoint's") {
  const Scratch scratch;
  const RunDirectory directory(scratch.path("run"));
  run(config_of(4), directory, RunPlan::kFresh);
  const Config more = config_of(8);
  // As a call leaves it that was killed after a validation: here with a net that learned nothing.
  save_parameters(directory.best(), "dfs", Net(tasks_of(more), net_options(more)), 100);
  const RunResult result = run(more, directory, RunPlan::kContinue);
  CHECK(result.best_step >= 4);
  CHECK(result.val_score == result.algorithms[0].val_score);
}

TEST_CASE("train: of equal validations the first counts") {
  const Scratch scratch;
  const RunDirectory directory(scratch.path("equal"));
  Config config = config_of(12, 1);
  config.lr = 1e-12;
  check_best(run(config, directory, RunPlan::kFresh), directory);
  CHECK(validations_of(directory).best_step == 0);
}

TEST_CASE("train: the oracle is the largest test score, chooses nothing and survives a resume") {
  const Scratch scratch;
  const auto config = [](int steps, bool oracle) {
    Config both = config_of(steps);
    both.algo = {"dfs", "bfs"};
    both.lr = 0.05;
    both.test_lengths = {5, 4};
    both.oracle = oracle;
    return both;
  };
  const RunDirectory plain(scratch.path("plain")), whole(scratch.path("whole")),
      parts(scratch.path("parts"));
  const RunResult without = run(config(9, false), plain, RunPlan::kFresh);
  const RunResult with = run(config(9, true), whole, RunPlan::kFresh);
  run(config(5, true), parts, RunPlan::kFresh);
  const RunResult resumed = run(config(9, true), parts, RunPlan::kContinue);
  CHECK(without.oracle.empty());
  CHECK(metrics(parts) == metrics(whole));
  CHECK(with.score(0) == without.score(0));
  CHECK(with.val_score == without.val_score);
  CHECK(values(Saved(whole, {"dfs", "bfs"}).last) == values(Saved(plain, {"dfs", "bfs"}).last));

  std::vector<std::string> others;  // the lines that are not the oracle's are those without it
  std::map<std::pair<int, int>, std::vector<double>> tests;  // by length and step: dfs, bfs, mean
  for (const auto& line : read_metrics(whole.metrics())) {
    if (line.contains("test_score"))
      tests[{line["length"], line["step"]}].push_back(line["test_score"]);
  }
  for (const std::string& line : metrics(whole)) {
    if (line.find("test_score") == std::string::npos) others.push_back(line);
  }
  CHECK(others == metrics(plain));
  REQUIRE(tests.size() == 2 * 5);  // steps 0, 2, 4, 6, 8
  REQUIRE(with.oracle.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const int length = i == 0 ? 5 : 4;
    OracleScore best;
    for (int step = 0; step < 9; step += 2) {
      const std::vector<double>& found = tests.at({length, step});
      REQUIRE(found.size() == 3);
      CHECK(found[2] == (found[0] + found[1]) / 2);
      if (found[2] > best.score) best = {found[2], step};
    }
    CHECK(with.oracle[i].score == best.score);
    CHECK(with.oracle[i].step == best.step);
    CHECK(resumed.oracle[i].score == best.score);
    CHECK(tests.at({length, with.best_step})[2] == with.score(i));
  }
  const RunResult read = read_summary(whole.summary());
  REQUIRE(read.oracle.size() == 2);
  CHECK(read.oracle[1].score == with.oracle[1].score);
  CHECK(read.oracle[1].step == with.oracle[1].step);
  CHECK(result_text(read, whole).find(fmt::format("oracle      {:.4f}", with.oracle[0].score)) !=
        std::string::npos);
}

TEST_CASE("train: --init-from begins with a run's parameters, and a resume leaves them alone") {
  const Scratch scratch;
  const RunDirectory first(scratch.path("first")), second(scratch.path("second"));
  run(config_of(4), first, RunPlan::kFresh);
  Config again = config_of(2);
  again.seed = 7;
  again.lr = 1e-30;  // too little to move a number but 0
  again.init_from = first.last();
  run(again, second, RunPlan::kFresh);
  const std::vector<Real> begun = values(Saved(first).last), kept = values(Saved(second).last);
  CHECK(std::equal(begun.begin(), begun.end(), kept.begin(),
                   [](Real a, Real b) { return std::abs(a - b) < Real(1e-20); }));
  CHECK(Saved(second).state.optimizer.steps == 2);
  std::filesystem::remove_all(first.path());  // it is not read again
  again.steps = 4;
  run(again, second, RunPlan::kContinue);
  again.init_from = scratch.path("none.npz");
  RunResult result;
  CHECK_THROWS_AS(train(again, RunDirectory(scratch.path("third")), RunPlan::kFresh, result),
                  Error);
  CHECK_FALSE(std::filesystem::exists(scratch.path("third")));
}

TEST_CASE("train: a loss that is not finite names its step and leaves the last checkpoint") {
  const Scratch scratch;
  const RunDirectory directory(scratch.path("run"));
  run(config_of(3), directory, RunPlan::kFresh);
  const Saved before(directory);
  Config wild = config_of(9);
  wild.lr = 1e30;
  RunResult result;
  // Step 3 is sound and its update is not.
  CHECK_THROWS_WITH_AS(train(wild, directory, RunPlan::kContinue, result),
                       doctest::Contains("step 4"), Error);
  // Parameters without end are no checkpoint, though no loss has been made of them yet.
  wild.lr = HUGE_VAL;
  wild.checkpoint_every = 1;
  CHECK_THROWS_WITH_AS(train(wild, directory, RunPlan::kContinue, result),
                       doctest::Contains("after step 3 parameters or their moments are not finite"),
                       Error);
  const Saved after(directory);
  CHECK(after.state.step == 3);
  CHECK(values(after.last) == values(before.last));
  CHECK(values(after.best) == values(before.best));

  // Before the first checkpoint there is none to speak of.
  const RunDirectory fresh(scratch.path("fresh"));
  wild.checkpoint_every = 100;
  wild.lr = 1e30;
  CHECK_THROWS_WITH_AS(train(wild, fresh, RunPlan::kFresh, result),
                       doctest::Contains("training stopped; a smaller --lr may help"), Error);
}

}  // namespace
}  // namespace renar::train_test
