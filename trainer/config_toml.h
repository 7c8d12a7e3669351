// config.toml: the settings table as a flat TOML file, a line a setting, written grouped and
// commented, read with every key and type checked.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>
#include <vector>

#include "trainer/settings.h"

namespace renar {

/// A scalar or a list of scalars as a flag would have it. Empty for anything else.
std::optional<std::string> flag_text(const toml::node& node);

/// The file as a table. Throws UsageError that names it and the line.
toml::table parse_toml(const std::string& path);

/// The setting that a key of `path` names. Throws UsageError with the nearest one if there is none.
const Setting& find_setting(const std::vector<Setting>& table, std::string_view key,
                            const std::string& path);

/// Puts a value over the config. `place` says where it stands ("run.toml: lr"). Throws UsageError
/// that starts with it where the value is of a wrong type or not valid.
void set_from_toml(const Setting& setting, const toml::node& node, const std::string& place,
                   Config& config);

/// Puts what the file says over the config. Throws UsageError that names file and key: not a
/// setting, given twice, or of a wrong type or value.
void apply_toml(const std::string& path, const std::vector<Setting>& table, Config& config);

}  // namespace renar
