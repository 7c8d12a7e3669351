#include "trainer/algorithm_list.h"

#include <fmt/format.h>

#include <vector>

#include "algos/dataset.h"
#include "algos/registry.h"
#include "core/json.h"
#include "core/text.h"

namespace renar {
namespace {

constexpr std::size_t kLineWidth = 100;

/// "node mask_one", "node categorical(3)".
std::string kind_of(const Probe& probe) {
  const std::string classes = probe.classes > 0 ? fmt::format("({})", probe.classes) : "";
  return fmt::format("{} {}{}", name_of(probe.location), name_of(probe.type), classes);
}

/// The probes of a stage, those of one kind together: "node pointer: pi_h s_prev".
std::vector<std::string> probes_by_kind(const Spec& spec, Stage stage) {
  std::vector<std::string> kinds;
  std::vector<std::string> lists;
  for (const Probe& probe : spec) {
    if (probe.stage != stage) continue;
    const std::string kind = kind_of(probe);
    std::size_t k = 0;
    while (k < kinds.size() && kinds[k] != kind) ++k;
    if (k == kinds.size()) {
      kinds.push_back(kind);
      lists.push_back(kind + ":");
    }
    lists[k] += " " + probe.name;
  }
  return lists;
}

/// A label and entries with semicolons between them, on as many lines as it takes.
std::string wrapped(const std::string& label, const std::vector<std::string>& entries) {
  std::string text, line = label;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string entry = entries[i] + (i + 1 < entries.size() ? ";" : "");
    if (i > 0 && line.size() + 1 + entry.size() > kLineWidth) {
      text += line + "\n";
      line = std::string(label.size() - 1, ' ');
    }
    line += (i > 0 ? " " : "") + entry;
  }
  return text + line + "\n";
}

std::string entry_of(const Algorithm& algorithm) {
  std::string text = fmt::format("{} ({}), input {}, {} test samples{}\n", algorithm.name,
                                 name_of(algorithm.category), join(algorithm.inputs),
                                 samples_in(algorithm, Split::kTest),
                                 algorithm.pred_is_input ? ", pred_h becomes an input" : "");
  for (const Stage stage : {Stage::kInput, Stage::kOutput, Stage::kHint}) {
    text +=
        wrapped(fmt::format("  {:<8}", name_of(stage)), probes_by_kind(algorithm.spec(), stage));
  }
  return text;
}

}  // namespace

std::string algorithm_list() {
  std::string text;
  for (const Algorithm& algorithm : algorithms()) text += entry_of(algorithm) + "\n";
  return text + fmt::format("{} algorithms\n", algorithms().size());
}

std::string algorithm_list_json() {
  Json list = Json::array();
  for (const Algorithm& algorithm : algorithms()) {
    Json probes = Json::array();
    for (const Probe& probe : algorithm.spec()) {
      Json entry = {{"name", probe.name},
                    {"stage", name_of(probe.stage)},
                    {"location", name_of(probe.location)},
                    {"type", name_of(probe.type)}};
      if (probe.classes > 0) entry["classes"] = probe.classes;
      probes.push_back(entry);
    }
    list.push_back({{"name", algorithm.name},
                    {"category", name_of(algorithm.category)},
                    {"inputs", algorithm.inputs},
                    {"probes", probes},
                    {"multiplier", algorithm.multiplier},
                    {"pred_is_input", algorithm.pred_is_input}});
  }
  return Json({{"algorithms", list}}).dump() + "\n";
}

}  // namespace renar
