#include "trainer/evaluate_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/check.h"
#include "core/json.h"
#include "core/text.h"
#include "core/version.h"
#include "trainer/checkpoint.h"
#include "trainer/evaluation_report.h"
#include "trainer/sampler_flags.h"
#include "trainer/train.h"

namespace renar {
namespace {

std::string file_of(const RunDirectory& directory, Checkpoint checkpoint) {
  switch (checkpoint) {
    case Checkpoint::kBest: return directory.best();
    case Checkpoint::kLast: return directory.last();
  }
  return "";
}

std::uint32_t seed_of(const EvaluationRequest& request) {
  return request.data_seed.value_or(clrs30(request.split).seed);
}

/// The sampler's parameters as the request changes them; those that it has not are an error.
SamplerParams params_of(const Algorithm& algorithm, const EvaluationRequest& request) {
  try {
    return changed_params(algorithm, algorithm.dataset, request.p, request.length_needle);
  } catch (const UsageError& error) {
    throw UsageError(message_of("{}; --algo picks others", error.what()));
  }
}

/// Means over the algorithms at each length.
struct Means {
  double score = 0, trivial = 0, exact = 0;

  Means(const std::vector<AlgorithmScores>& scores, std::size_t length) {
    const auto count = static_cast<double>(scores.size());
    for (const AlgorithmScores& found : scores) {
      score += found.tests[length].test.score / count;
      trivial += found.tests[length].test.trivial / count;
      exact += found.tests[length].test.exact / count;
    }
  }
};

std::string mean_table(const std::vector<AlgorithmScores>& scores) {
  std::string text = fmt::format("\nmean of {} algorithms\n  {:>6}  {:>7}  {:>7}  {:>7}\n",
                                 scores.size(), "length", "score", "trivial", "exact");
  for (std::size_t i = 0; i < scores[0].tests.size(); ++i) {
    const Means means(scores, i);
    text += fmt::format("  {:>6}  {:>7.4f}  {:>7.4f}  {:>7.4f}\n", scores[0].tests[i].length,
                        means.score, means.trivial, means.exact);
  }
  return text;
}

}  // namespace

std::string_view name_of(Checkpoint checkpoint) {
  switch (checkpoint) {
    case Checkpoint::kBest: return "best";
    case Checkpoint::kLast: return "last";
  }
  return "";
}

TrainedRun::TrainedRun(const std::string& run_directory, Checkpoint which, const ValidNames& valid)
    : directory(run_directory),
      checkpoint(which),
      config(read_run_config(run_directory, valid)),
      net(tasks_of(config), net_options(config)),
      step(load_parameters(file_of(RunDirectory(run_directory), which), join(config.algo), net)) {}

std::vector<std::vector<TestSet>> sets_of(const TrainedRun& run, const EvaluationRequest& request) {
  const std::vector<std::string>& names = run.config.algo;
  for (const std::string& name : request.algo) {
    RENAR_USAGE(std::find(names.begin(), names.end(), name) != names.end(),
                "--algo {}: the run in {} learned {}", name, run.directory, join(names));
  }
  std::vector<int> lengths = request.lengths;
  if (lengths.empty() && request.split == Split::kTest) lengths = run.config.test_lengths;
  if (lengths.empty()) lengths = {clrs30(request.split).length};
  const int samples = request.samples > 0             ? request.samples
                      : request.split == Split::kTest ? run.config.test_samples
                                                      : 0;
  std::vector<std::vector<TestSet>> sets(names.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    const bool wanted = request.algo.empty() || std::find(request.algo.begin(), request.algo.end(),
                                                          names[k]) != request.algo.end();
    for (std::size_t i = 0; wanted && i < lengths.size(); ++i) {
      const Algorithm& algorithm = find_algorithm(names[k]);
      TestSet set =
          clrs30_set(algorithm, pipeline_of(run.config), request.split, lengths[i], samples);
      set.params = params_of(algorithm, request);
      set.seed = seed_of(request);
      check_length(set, run.net, "--lengths");
      sets[k].push_back(set);
    }
  }
  return sets;
}

std::optional<std::vector<AlgorithmScores>> evaluate_run(
    const TrainedRun& run, const EvaluationRequest& request, const Machine& machine,
    const std::function<void(const std::string&)>& print, const std::function<bool()>& go_on) {
  RENAR_USAGE(!request.hints || predicts_hints(run.net.options().hints),
              "--hints: the run in {} predicts no hints", run.directory);
  const std::vector<std::vector<TestSet>> sets = sets_of(run, request);
  ShardRunner runner(machine.threads, machine.device, machine.precision);
  const PlacedNet net(run.net, machine.device);
  print(fmt::format("{}: {} parameters, after {} of {} steps; {}, {} data of seed {}\n",
                    run.directory, name_of(run.checkpoint), run.step, run.config.steps,
                    run.config.processor, clrs30(request.split).name, seed_of(request)));
  std::vector<AlgorithmScores> scores;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    if (sets[k].empty()) continue;
    AlgorithmScores& found = scores.emplace_back();
    found.algo = run.config.algo[k];
    const int task = static_cast<int>(k);
    std::vector<std::string> outputs;
    for (const std::size_t p : scored_outputs(run.net.spec(task))) {
      outputs.push_back(run.net.spec(task)[p].name);
    }
    print(fmt::format("\n{}\n{}", found.algo, score_heading(outputs)));
    for (const TestSet& set : sets[k]) {
      std::optional<Evaluation> test =
          evaluate(net, task, set, runner,
                   request.hints ? Predictions::Hints::kChoices : Predictions::Hints::kNone,
                   [&](int) { return go_on(); });
      if (!test) return std::nullopt;
      print(score_row(set.length, *test));
      found.tests.push_back({set.length, std::move(*test)});
    }
    for (const LengthScore& score : found.tests) {
      if (!request.hints) break;
      print(fmt::format("\n{} at length {}, hints at frames t after the first, {} in all\n{}",
                        found.algo, score.length, score.test.running.size(),
                        hint_table(score.test)));
    }
  }
  if (scores.size() > 1) print(mean_table(scores));
  return scores;
}

Json json_of(const TrainedRun& run, const EvaluationRequest& request,
             const std::vector<AlgorithmScores>& scores, double seconds, const Machine& machine) {
  Json algorithms = Json::array();
  for (const AlgorithmScores& found : scores) {
    Json tests = Json::array();
    for (const LengthScore& score : found.tests) {
      Json test = {{"length", score.length}};
      test.update(json_of(score.test));
      tests.push_back(test);
    }
    algorithms.push_back({{"algo", found.algo}, {"tests", tests}});
  }
  Json json = {{"run", run.directory},
               {"checkpoint", std::string(name_of(run.checkpoint))},
               {"step", run.step},
               {"method", run.config.method},
               {"processor", run.config.processor},
               {"seed", run.config.seed},
               {"split", std::string(clrs30(request.split).name)},
               {"data_seed", seed_of(request)},
               {"p", request.p},
               {"length_needle", nullptr},
               {"algorithms", algorithms},
               {"mean", Json::array()},
               {"seconds", seconds},
               {"device", text_of(machine)},
               {"commit", commit()}};
  if (request.length_needle) json["length_needle"] = *request.length_needle;
  for (std::size_t i = 0; !scores.empty() && i < scores[0].tests.size(); ++i) {
    const Means means(scores, i);
    json["mean"].push_back({{"length", scores[0].tests[i].length},
                            {"score", means.score},
                            {"trivial", means.trivial},
                            {"exact", means.exact}});
  }
  return json;
}

}  // namespace renar
