// config.toml: the settings table as a flat TOML file, a line a setting, written grouped and
// commented, read with every key and type checked.
#pragma once

#include <string>
#include <vector>

#include "trainer/settings.h"

namespace renar {

/// Puts what the file says over the config and gives the names of the settings it has. Throws
/// UsageError that names file and key: not a setting, given twice, or of a wrong type or value.
std::vector<std::string> apply_toml(const std::string& path, const std::vector<Setting>& table,
                                    Config& config);

}  // namespace renar
