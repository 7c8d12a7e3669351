#include "trainer/evaluation_report.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/json.h"

namespace renar {
namespace {

constexpr std::size_t kScoreWidth = 7;  // "-1.0000", "running"

std::size_t column_width(const std::string& name) { return std::max(kScoreWidth, name.size()); }

/// Shares have four digits after the point, squared errors of any size four digits.
std::string number(Type type, double value) {
  return type == Type::kScalar ? fmt::format("{:.4g}", value) : fmt::format("{:.4f}", value);
}

/// Up to kShownFrames of [0, frames), the first and the last among them, evenly spread.
std::vector<std::size_t> shown_frames(std::size_t frames) {
  const std::size_t count = std::min(frames, kShownFrames);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < count; ++i) {
    shown.push_back(count == 1 ? 0 : i * (frames - 1) / (count - 1));
  }
  return shown;
}

Json json_of(const HintScore& hint) {
  Json json = {{"type", std::string(name_of(hint.type))}, {"score", nullptr}};
  if (hint.score) json["score"] = *hint.score;
  if (hint.type != Type::kScalar) json["exact"] = hint.exact;
  json["along_time"] = hint.along_time;
  return json;
}

}  // namespace

Json json_of(const Evaluation& test) {
  Json outputs;
  for (const OutputScore& output : test.outputs) {
    outputs[output.name] = {
        {"score", output.score}, {"trivial", output.trivial}, {"exact", output.exact}};
  }
  Json json = {{"nodes", test.nodes},     {"samples", test.samples}, {"score", test.score},
               {"trivial", test.trivial}, {"exact", test.exact},     {"outputs", outputs}};
  if (test.hints.empty()) return json;
  json["hints_exact"] = test.hints_exact;
  json["running"] = test.running;
  for (const HintScore& hint : test.hints) json["hints"][hint.name] = json_of(hint);
  return json;
}

std::string score_heading(const std::vector<std::string>& outputs) {
  std::string line = fmt::format("  {:>6}  {:>5}  {:>7}  {:>7}  {:>7}  {:>7}", "length", "nodes",
                                 "samples", "score", "trivial", "exact");
  for (const std::string& name : outputs) {
    line += fmt::format("  {:>{}}", name, column_width(name));
  }
  return line + "\n";
}

std::string score_row(int length, const Evaluation& test) {
  std::string line = fmt::format("  {:>6}  {:>5}  {:>7}  {:>7.4f}  {:>7.4f}  {:>7.4f}", length,
                                 test.nodes, test.samples, test.score, test.trivial, test.exact);
  for (const OutputScore& output : test.outputs) {
    line += fmt::format("  {:>{}.4f}", output.score, column_width(output.name));
  }
  return line + "\n";
}

std::string hint_table(const Evaluation& test) {
  std::size_t width = std::string("samples with it").size();
  for (const HintScore& hint : test.hints) width = std::max(width, hint.name.size());
  const std::vector<std::size_t> frames = shown_frames(test.running.size());

  std::string text =
      fmt::format("  {:<{}}  {:<17}  {:>8}  {:>7}", "hint", width, "type", "score", "exact");
  for (const std::size_t t : frames) text += fmt::format(" {:>9}", fmt::format("t={}", t + 1));
  text += '\n';
  for (const HintScore& hint : test.hints) {
    const bool scalar = hint.type == Type::kScalar;
    text += fmt::format("  {:<{}}  {:<17}  {:>8}  {:>7}", hint.name, width,
                        scalar ? "scalar, its error" : name_of(hint.type),
                        hint.score ? number(hint.type, *hint.score) : "-",
                        scalar ? "-" : number(hint.type, hint.exact));
    for (const std::size_t t : frames) {
      text += fmt::format(" {:>9}", number(hint.type, hint.along_time[t]));
    }
    text += '\n';
  }
  text += fmt::format("  {:<{}}  {:<17}  {:>8}  {:>7.4f}\n", "all hints", width, "", "",
                      test.hints_exact);
  text += fmt::format("  {:<{}}  {:<17}  {:>8}  {:>7}", "samples with it", width, "", "", "");
  for (const std::size_t t : frames) text += fmt::format(" {:>9}", test.running[t]);
  return text + "\n";
}

}  // namespace renar
