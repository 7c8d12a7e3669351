// summary.json and the lines that end a run (trainer/train.h).
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/files.h"
#include "core/version.h"
#include "trainer/progress.h"
#include "trainer/train.h"

namespace renar {

void write_summary(const std::string& path, const RunResult& result) {
  nlohmann::ordered_json tests = nlohmann::ordered_json::array();
  for (const Evaluation& test : result.tests) {
    nlohmann::ordered_json outputs;
    for (const auto& [output, score] : test.outputs) outputs[output] = score;
    tests.push_back({{"nodes", test.nodes},
                     {"samples", test.samples},
                     {"score", test.score},
                     {"outputs", outputs}});
  }
  const nlohmann::ordered_json summary = {{"algo", result.algo},
                                          {"method", "baseline"},
                                          {"processor", result.processor},
                                          {"seed", result.seed},
                                          {"steps", result.steps},
                                          {"score", result.tests.at(0).score},
                                          {"val_score", result.val_score},
                                          {"val_nodes", result.val_nodes},
                                          {"best_step", result.best_step},
                                          {"tests", tests},
                                          {"seconds", result.seconds},
                                          {"device", result.device},
                                          {"commit", commit()}};
  write_file_atomically(path, summary.dump(2) + "\n");
}

RunResult read_summary(const std::string& path) {
  try {
    const auto s = nlohmann::json::parse(read_file(path));
    RunResult result{s.at("algo"),      s.at("processor"), s.at("seed"),
                     s.at("steps"),     s.at("seconds"),   s.at("val_score"),
                     s.at("val_nodes"), s.at("best_step"), {},
                     s.at("device")};
    for (const auto& t : s.at("tests")) {
      Evaluation test{t.at("score"), {}, t.at("samples"), t.at("nodes")};
      for (const auto& [output, score] : t.at("outputs").items())
        test.outputs.emplace_back(output, score);
      result.tests.push_back(test);
    }
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw Error(message_of("[summary] {} is damaged: {}", path, error.what()));
  }
}

std::string result_text(const RunResult& result, const RunDirectory& directory) {
  std::string text =
      fmt::format("{}, {}, seed {}: {} steps in {} on {}\n", result.algo, result.processor,
                  result.seed, result.steps, human_time(result.seconds), result.device);
  text += fmt::format("validation  {:.4f}  n = {}, the best, after step {}\n", result.val_score,
                      result.val_nodes, result.best_step);
  for (const Evaluation& test : result.tests) {
    text += fmt::format("score       {:.4f}  n = {}, {} samples, test", test.score, test.nodes,
                        test.samples);
    for (const auto& [output, score] : test.outputs)
      text += fmt::format("; {} {:.4f}", output, score);
    text += '\n';
  }
  return text + fmt::format(
                    "in {}: config.toml metrics.jsonl curves.svg summary.json best.safetensors "
                    "last.safetensors\n",
                    directory.path());
}

}  // namespace renar
