// summary.json and the lines that end a run (trainer/train.h).
#include <fmt/core.h>

#include <algorithm>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/version.h"
#include "trainer/evaluation_report.h"
#include "trainer/progress.h"
#include "trainer/train.h"

namespace renar {

namespace {

Json json_of(const AlgorithmResult& result) {
  Json tests = Json::array();
  for (const Evaluation& test : result.tests) tests.push_back(json_of(test));
  return {{"algo", result.algo},
          {"val_score", result.val_score},
          {"val_nodes", result.val_nodes},
          {"tests", tests}};
}

/// The lines of one test: the score, and what the best constant prediction has.
std::string scores_of_one(const Evaluation& test) {
  std::string text = fmt::format("score       {:.4f}  n = {}, {} samples, test", test.score,
                                 test.nodes, test.samples);
  for (const OutputScore& output : test.outputs) {
    text += fmt::format("; {} {:.4f}", output.name, output.score);
  }
  text += fmt::format("\ntrivial     {:.4f}  the best constant prediction there", test.trivial);
  if (test.outputs.size() > 1) {
    for (const OutputScore& output : test.outputs) {
      text += fmt::format("; {} {:.4f}", output.name, output.trivial);
    }
  }
  return text + "\n";
}

/// The same for several algorithms: the means, then a line each. Graphs may differ in their nodes:
/// those of segments_intersect always have 4.
std::string scores_of_several(const RunResult& result, std::size_t test) {
  std::string text = fmt::format(
      "score       {:.4f}  mean of the tests below\n"
      "trivial     {:.4f}  mean of the best constant predictions there\n"
      "  {:<30} {:>4}  {:>6}  {:>7}  {:>7}\n",
      result.score(test), result.trivial(test), "algorithm", "n", "score", "trivial", "samples");
  for (const AlgorithmResult& found : result.algorithms) {
    const Evaluation& e = found.tests[test];
    text += fmt::format("  {:<30} {:>4}  {:>6.4f}  {:>7.4f}  {:>7}", found.algo, e.nodes, e.score,
                        e.trivial, e.samples);
    if (e.outputs.size() > 1) {
      for (const OutputScore& output : e.outputs) {
        text += fmt::format("  {} {:.4f}", output.name, output.score);
      }
    }
    text += '\n';
  }
  return text;
}

AlgorithmResult algorithm_from(const Json& entry) {
  AlgorithmResult result{entry.at("algo"), entry.at("val_score"), entry.at("val_nodes"), {}};
  for (const auto& t : entry.at("tests")) {
    Evaluation test{t.at("score"),   t.at("trivial"), {},
                    t.at("samples"), t.at("nodes"),   t.at("exact")};
    for (const auto& [output, scores] : t.at("outputs").items()) {
      test.outputs.push_back(
          {output, scores.at("score"), scores.at("trivial"), scores.at("exact")});
    }
    result.tests.push_back(test);
  }
  return result;
}

}  // namespace

std::string name_of(const RunResult& result) {
  if (result.algorithms.size() == 1) return result.algorithms[0].algo;
  return fmt::format("{} algorithms", result.algorithms.size());
}

std::string title_of(const RunResult& result) {
  return fmt::format("{}, {}{}, seed {}", name_of(result), result.processor,
                     result.method == "baseline" ? "" : " with " + result.method, result.seed);
}

void write_summary(const std::string& path, const RunResult& result) {
  Json names = Json::array(), algorithms = Json::array();
  for (const AlgorithmResult& found : result.algorithms) {
    names.push_back(found.algo);
    algorithms.push_back(json_of(found));
  }
  Json summary = {{"algo", names.size() == 1 ? names[0] : names},
                  {"method", result.method},
                  {"processor", result.processor},
                  {"seed", result.seed},
                  {"steps", result.steps},
                  {"score", result.score(0)},
                  {"trivial", result.trivial(0)},
                  {"val_score", result.val_score},
                  {"best_step", result.best_step},
                  {"algorithms", algorithms},
                  {"seconds", result.seconds},
                  {"data_wait_seconds", result.data_wait_seconds},
                  {"validation_seconds", result.validation_seconds},
                  {"peak_mib", result.peak_mib},
                  {"device", result.device},
                  {"commit", commit()}};
  if (!result.oracle.empty()) summary["oracle"] = result.oracle[0].score;
  for (const OracleScore& oracle : result.oracle) {
    summary["oracles"].push_back({{"score", oracle.score}, {"step", oracle.step}});
  }
  write_file_atomically(path, summary.dump(2) + "\n");
}

RunResult result_of(const Json& s) {
  RunResult result{{},
                   s.at("method"),
                   s.at("processor"),
                   s.at("seed"),
                   s.at("steps"),
                   s.at("seconds"),
                   s.at("val_score"),
                   s.at("best_step"),
                   s.at("device"),
                   s.at("peak_mib"),
                   s.value("data_wait_seconds", 0.0),  // older runs do not have these two
                   s.value("validation_seconds", 0.0)};
  for (const Json& entry : s.at("algorithms")) {
    result.algorithms.push_back(algorithm_from(entry));
  }
  const auto& all = result.algorithms;
  const bool complete = !all.empty() && std::all_of(all.begin(), all.end(), [&](const auto& one) {
    return one.tests.size() == all[0].tests.size() && !one.tests.empty();
  });
  RENAR_CHECK(complete, "[summary] {} algorithms, of which some have no tests", all.size());
  for (const Json& entry : s.value("oracles", Json::array())) {
    result.oracle.push_back({entry.at("score"), entry.at("step")});
  }
  return result;
}

RunResult read_summary(const std::string& path) {
  try {
    return naming_file(path, [&] { return result_of(parse_json(read_file(path))); });
  } catch (const Json::exception& error) {
    throw Error(message_of("[summary] {} is damaged: {}", path, error.what()));
  }
}

std::string result_text(const RunResult& result, const RunDirectory& directory) {
  const bool several = result.algorithms.size() > 1;
  std::string text =
      fmt::format("{}: {} steps in {}", title_of(result), result.steps, human_time(result.seconds));
  if (result.validation_seconds > 0.05 * result.seconds) {
    text += fmt::format(", validations in {},", human_time(result.validation_seconds));
  }
  text += fmt::format(" on {}\n", result.device);
  if (result.data_wait_seconds > 0.01 * result.seconds) {
    text += fmt::format("data        training waited {:.3g} s for its data\n",
                        result.data_wait_seconds);
  }
  text += fmt::format(
      "validation  {:.4f}  {}, the best, after {} steps\n", result.val_score,
      several ? std::string("mean") : fmt::format("n = {}", result.algorithms[0].val_nodes),
      result.best_step + 1);
  for (std::size_t i = 0; i < result.algorithms[0].tests.size(); ++i) {
    text += several ? scores_of_several(result, i) : scores_of_one(result.algorithms[0].tests[i]);
    if (i < result.oracle.size()) {
      text += fmt::format(
          "oracle      {:.4f}  the best on that test of all validated, after {} steps\n",
          result.oracle[i].score, result.oracle[i].step + 1);
    }
  }
  return text + fmt::format(
                    "in {}: config.toml metrics.jsonl curves.svg summary.json best.safetensors "
                    "last.safetensors\n",
                    directory.path());
}

}  // namespace renar
