// Flags that take numbers or words, read as renar_train reads its own: numbers in decimal, the
// whole word, within a range; words of a setting's list; lists with commas between them and nothing
// twice.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/check.h"
#include "core/text.h"
#include "trainer/settings.h"

namespace renar {

/// Edge probabilities; a share of 0 makes graphs without edges, from which nothing is learned but
/// which can be looked at.
constexpr Range kShares = {.low = 0, .high = 1};

constexpr const char* kNeedleHelp =
    "letters of a string matcher's needle; -8: drawn from 1 to 8; 0: a fifth";

/// A setting of renar_train by its name, without the algorithms and processors that it may take.
inline Setting setting_of(const std::string& name) {
  for (const Setting& known : settings({})) {
    if (known.name == name) return known;
  }
  throw Error(message_of("[numbers] there is no setting {}", name));
}

/// The numbers that a setting takes.
inline Range range_of(const std::string& setting) { return setting_of(setting).range; }

/// The same from another lowest number on.
inline Range range_of(const std::string& setting, double low) {
  return {.low = low, .high = range_of(setting).high};
}

/// A setting of each type, and what --help calls its value.
template <class T>
struct Like;
template <>
struct Like<int> {
  static constexpr auto member = &Config::steps;
  static constexpr const char* placeholder = "N";
};
template <>
struct Like<std::uint32_t> {
  static constexpr auto member = &Config::seed;
  static constexpr const char* placeholder = "N";
};
template <>
struct Like<double> {
  static constexpr auto member = &Config::lr;
  static constexpr const char* placeholder = "X";
};
template <>
struct Like<std::vector<int>> {
  static constexpr auto member = &Config::train_lengths;
  static constexpr const char* placeholder = "N,N,..";
};
template <>
struct Like<std::vector<double>> {
  static constexpr auto member = &Config::p;
  static constexpr const char* placeholder = "X,X,..";
};
template <>
struct Like<std::vector<std::string>> {
  static constexpr auto member = &Config::algo;
  static constexpr const char* placeholder = "WORD,WORD,..";
};
template <class T>
struct Like<std::optional<T>> : Like<T> {};

/// Adds a flag that takes a number or a list; its value until then is its default, which --help
/// names if it is a number above 0. A wrong value throws UsageError.
template <class T>
CLI::Option* add_values(CLI::App& app, const std::string& flag, T& value, const Range& range,
                        const std::string& help) {
  const auto read = [&value, flag, range](const std::string& text) {
    Config config;
    const Setting setting = {Group::kCall, flag, Like<T>::member, "", range};
    set_from_text(setting, text, flag, config);
    value = config.*Like<T>::member;
  };
  CLI::Option* option = app.add_option_function<std::string>(flag, read, help);
  option->type_name(Like<T>::placeholder);
  if constexpr (std::is_arithmetic_v<T>) {
    if (value > 0) option->default_str(fmt::format("{}", value));
  }
  return option;
}

/// Adds a flag that takes one of the words that a setting takes; its value until then is its
/// default, which --help names unless it is empty. A wrong word throws UsageError.
inline CLI::Option* add_word(CLI::App& app, const std::string& flag, std::string& value,
                             const std::string& setting, const std::string& help) {
  const Setting known = setting_of(setting);
  const auto read = [&value, flag, known](const std::string& text) {
    Config config;
    set_from_text(known, text, flag, config);
    value = config.*std::get<std::string Config::*>(known.member);
  };
  CLI::Option* option = app.add_option_function<std::string>(flag, read, help);
  option->type_name(fmt::format("{{{}}}", join(known.choices, ",")));
  if (!value.empty()) option->default_str(value);
  return option;
}

}  // namespace renar
