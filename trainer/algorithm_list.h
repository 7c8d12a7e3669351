// The registry as a text to read and as JSON: what each algorithm takes and shows.
#pragma once

#include <string>

namespace renar {

/// Some lines an algorithm: name, category, the user's input, probes by stage, location and type.
std::string algorithm_list();

/// One JSON object: {"algorithms": [{"name", "category", "inputs", "probes": [{"name", "stage",
/// "location", "type", "classes"}, ..], "multiplier", "pred_is_input"}, ..]}.
std::string algorithm_list_json();

}  // namespace renar
