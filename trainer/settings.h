// The list of settings, once: a line each says the name, the member of Config, what values it takes
// and what it means. Flags, --help, TOML reading, TOML writing and comparison all walk this list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainer/config.h"

namespace renar {

enum class Group { kWhat, kModel, kTraining, kData, kEvaluation, kMachine, kCall };

/// The group's heading in --help and config.toml.
std::string_view heading(Group group);

/// The numbers a setting takes, ends included unless they are open.
struct Range {
  double low = 0;
  double high = 0;
  bool open_low = false;
  bool open_high = false;
};

using Member =
    std::variant<std::string Config::*, bool Config::*, int Config::*, std::uint32_t Config::*,
                 double Config::*, std::vector<std::string> Config::*, std::vector<int> Config::*,
                 std::vector<double> Config::*>;

/// What stands for all algorithms of CLRS-30.
constexpr const char* kAll = "all";

struct Setting {
  Group group;
  std::string name;  // as the flag has it, without the two hyphens
  Member member;
  std::string help;
  Range range = {};                       // of a number or of each number of a list
  std::vector<std::string> choices = {};  // of a text or each of a list; empty: any text
  std::string alias = {};                 // the reference's name where it has another
};

/// All settings in the order of --help.
std::vector<Setting> settings(const ValidNames& valid);

/// A setting's name in the table; the reference writes underscores.
std::string with_hyphens(std::string name);

/// The names with a prefix, for messages.
std::vector<std::string> names_of(const std::vector<Setting>& table, const std::string& prefix);

/// Reads a value as a flag has it ("0.001", "4,7,11", "true") into the config. Throws UsageError
/// that starts with `place` ("--lr") and says what is valid.
void set_from_text(const Setting& setting, std::string_view text, const std::string& place,
                   Config& config);

/// The value as a flag would give it; "" for an empty list or text.
std::string text_of(const Setting& setting, const Config& config);

/// The value as TOML: 0.001, [4, 7, 11], "soft", true.
std::string toml_of(const Setting& setting, const Config& config);

}  // namespace renar
