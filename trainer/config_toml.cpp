#include "trainer/config_toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>

#include "core/check.h"
#include "core/files.h"
#include "core/text.h"

namespace renar {
namespace {

// The kind of TOML value each kind of member is written as.
struct TomlKind {
  const toml::node& node;
  std::string operator()(std::string Config::*) const { return node.is_string() ? "" : "a text"; }
  std::string operator()(bool Config::*) const { return node.is_boolean() ? "" : "true or false"; }
  std::string operator()(int Config::*) const { return node.is_integer() ? "" : "a whole number"; }
  std::string operator()(std::uint32_t Config::*) const { return (*this)(&Config::batch); }
  std::string operator()(double Config::*) const { return node.is_number() ? "" : "a number"; }
  std::string operator()(std::vector<int> Config::*) const { return numbers(); }
  std::string operator()(std::vector<double> Config::*) const { return numbers(); }
  std::string operator()(std::vector<std::string> Config::*) const {
    return node.is_string() || all_of(&toml::node::is_string) ? "" : "a text or a list of texts";
  }
  std::string numbers() const { return all_of(&toml::node::is_number) ? "" : "a list of numbers"; }
  bool all_of(bool (toml::node::*kind)() const) const {
    const toml::array* list = node.as_array();
    return list != nullptr && std::all_of(list->begin(), list->end(),
                                          [&](const toml::node& entry) { return (entry.*kind)(); });
  }
};

/// Dotted keys nest, and the parser goes as deep as they do.
void check_parsable(const std::string& text, const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  constexpr int kMostDots = 5000;
  RENAR_USAGE(text.size() <= kMostBytes, "{} has more than {} bytes", path, kMostBytes);
  int dots = 0, line = 1;
  for (const char letter : text) {
    dots = letter == '\n' ? 0 : dots + (letter == '.' ? 1 : 0);
    line += letter == '\n' ? 1 : 0;
    RENAR_USAGE(dots <= kMostDots, "{}: line {} has more than {} dots", path, line, kMostDots);
  }
}

}  // namespace

void set_from_toml(const Setting& setting, const toml::node& node, const std::string& place,
                   Config& config) {
  const std::string wanted = std::visit(TomlKind{node}, setting.member);
  RENAR_USAGE(wanted.empty(), "{} must be {}", place, wanted);
  const std::string text = flag_text(node).value();
  if (text.empty() && text_of(setting, Config()).empty()) {  // [] or "" is how it is written
    std::visit([&](auto member) { config.*member = Config().*member; }, setting.member);
  } else {
    set_from_text(setting, text, place, config);
  }
}

std::optional<std::string> flag_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* list = node.as_array()) {
    std::vector<std::string> entries;
    for (const toml::node& entry : *list) {
      if (!entry.is_number() && !entry.is_string()) return std::nullopt;
      entries.push_back(flag_text(entry).value());
    }
    return join(entries, ",");
  }
  return std::nullopt;
}

toml::table parse_toml(const std::string& path) {
  try {
    const std::string text = read_file(path);
    check_parsable(text, path);
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{} is not TOML: line {}: {}", path, error.source().begin.line,
                                 error.description()));
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

const Setting& find_setting(const std::vector<Setting>& table, std::string_view key,
                            const std::string& path) {
  const std::string name = with_hyphens(std::string(key));
  const auto setting = std::find_if(table.begin(), table.end(), [&](const Setting& entry) {
    return entry.name == name || (!entry.alias.empty() && entry.alias == name);
  });
  RENAR_USAGE(setting != table.end(), "{}: {} is not a setting; did you mean {}?", path,
              shortened(key), nearest_match(name, names_of(table, "")));
  RENAR_USAGE(setting->group != Group::kCall,
              "{}: {} belongs to one call: give it as the flag --{}", path, key, name);
  return *setting;
}

void apply_toml(const std::string& path, const std::vector<Setting>& table, Config& config) {
  std::vector<std::string> seen;
  for (const auto& [key, node] : parse_toml(path)) {
    const Setting& setting = find_setting(table, key.str(), path);
    const std::string place = fmt::format("{}: {}", path, key.str());
    RENAR_USAGE(std::find(seen.begin(), seen.end(), setting.name) == seen.end(), "{} stands twice",
                place);
    set_from_toml(setting, node, place, config);
    seen.push_back(setting.name);
  }
}

std::string config_text(const Config& config) {
  std::string text =
      "# All settings of this run, defaults included. To run it again elsewhere:\n"
      "#   ./renar_train --config config.toml --out DIR\n";
  // What the method decides is left to it, so that the file also serves another --method.
  Config left = config;
  left.mask_ratio = left.rec_weight = kOfMethod;
  Config of_method = left;
  complete_method(of_method);
  std::optional<Group> group;
  for (const Setting& setting : settings({})) {
    if (setting.group == Group::kCall) continue;
    if (setting.group != group) text += fmt::format("\n# {}\n", heading(setting.group));
    group = setting.group;
    const std::string value = toml_of(setting, config);
    const bool is_methods = value == toml_of(setting, of_method) && value != toml_of(setting, left);
    text +=
        fmt::format("{}{} = {}  # {}\n", is_methods ? "# " : "", setting.name, value, setting.help);
  }
  return text;
}

}  // namespace renar
