#include "trainer/ledger.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "core/version.h"
#include "trainer/machine.h"
#include "trainer/settings.h"

namespace renar {
namespace {

/// The algorithms and the settings that decide what is computed and differ from their defaults.
std::map<std::string, std::string> deciding_settings(const Config& config) {
  Config standard;
  standard.algo = config.algo;
  complete(standard, {});
  std::map<std::string, std::string> texts = {{"algo", join(config.algo, ",")}};
  for (const Setting& setting : settings({})) {
    if (setting.group == Group::kMachine || setting.group == Group::kCall) continue;
    const std::string text = text_of(setting, config);
    if (text != text_of(setting, standard)) texts[setting.name] = text;
  }
  return texts;
}

/// A value as JSON: 0.001, [4, 7], "soft", true; TOML writes them alike.
Json json_of(const Setting& setting, const Config& config) {
  return try_parse_json(toml_of(setting, config)).value_or(text_of(setting, config));
}

/// What every line begins with.
Json beginning_of(const Config& config, const RunDirectory& directory) {
  Json differing;
  const std::map<std::string, std::string> deciding = deciding_settings(config);
  for (const Setting& setting : settings({})) {
    if (deciding.contains(setting.name)) differing[setting.name] = json_of(setting, config);
  }
  const std::string date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return {{"config_hash", config_hash(config)},
          {"date", date},
          {"directory", directory.path()},
          {"config", differing}};
}

/// The machine, or how it was asked for where that is why the run failed.
std::string device_of(const Config& config) {
  try {
    return text_of(machine_of(config));
  } catch (const Error&) {
    return fmt::format("{}, {}", config.device, config.precision);
  }
}

/// Paths and errors may hold bytes that are no UTF-8, which JSON does not have.
void append(const std::string& ledger, const Json& line) {
  append_line(ledger, line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// The entry that a line tells of; none where it is not a run's.
std::optional<LedgerEntry> entry_in(std::string_view line) {
  try {
    const Json object = parse_json(line);
    LedgerEntry entry{object.at("config_hash"), object.at("commit"), object.value("error", ""), {}};
    if (!object.contains("error")) entry.result = result_of(object);
    return entry;
  } catch (const Json::exception&) {  // what it says is missing or of another type
  } catch (const Error&) {            // or makes no result
  }
  return std::nullopt;
}

}  // namespace

std::string config_hash(const Config& config) {
  std::string text;
  for (const auto& [name, value] : deciding_settings(config)) text += name + "=" + value + "\n";
  return fmt::format("{:016x}", fnv1a(text));
}

Ledger::Ledger(const std::string& path) {
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_file(path);
  int number = 0, foreign = 0, first_foreign = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = std::string_view(text).substr(start, end - start);
    start = end + 1;
    ++number;
    if (line.empty()) continue;
    const std::optional<LedgerEntry> entry = entry_in(line);
    if (!entry) {
      if (end == text.size()) {
        remarks_.push_back(fmt::format(
            "{}, line {}, the last, is cut off: that run counts as not done", path, number));
      } else if (foreign++ == 0) {
        first_foreign = number;
      }
      continue;
    }
    const bool loses = !entry->error.empty() && has_result(entry->config_hash);
    if (!loses) by_hash_[entry->config_hash] = *entry;
  }
  if (foreign > 0) {
    remarks_.push_back(fmt::format("{}: {} line{} not a run's, left out (the first is line {})",
                                   path, foreign, foreign == 1 ? " is" : "s are", first_foreign));
  }
}

const LedgerEntry* Ledger::find(const std::string& hash) const {
  const auto place = by_hash_.find(hash);
  return place == by_hash_.end() ? nullptr : &place->second;
}

bool Ledger::has_result(const std::string& hash) const {
  const LedgerEntry* entry = find(hash);
  return entry != nullptr && entry->error.empty();
}

void append_finished(const std::string& ledger, const Config& config,
                     const RunDirectory& directory) {
  Json line = beginning_of(config, directory);
  try {
    const Json summary = naming_file(directory.summary(),
                                     [&] { return parse_json(read_file(directory.summary())); });
    result_of(summary);
    line.update(summary);
  } catch (const Json::exception& error) {
    throw Error(message_of("[ledger] {} is damaged: {}", directory.summary(), error.what()));
  }
  append(ledger, line);
}

void append_failed(const std::string& ledger, const Config& config, const RunDirectory& directory,
                   const std::string& error) {
  Json line = beginning_of(config, directory);
  line["commit"] = commit();
  for (const Setting& setting : settings({})) {
    if (setting.group == Group::kWhat) line[setting.name] = json_of(setting, config);
  }
  if (config.algo.size() == 1) line["algo"] = config.algo[0];  // as in summary.json
  line["seed"] = config.seed;
  line["steps"] = config.steps;
  line["device"] = device_of(config);
  line["error"] = error;
  append(ledger, line);
}

}  // namespace renar
