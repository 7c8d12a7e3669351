// JSON: nlohmann's, with keys in the order in which they were set.
//
// Read a text by these functions and not by Json::parse, whose parser each file would then compile
// for itself, which takes seconds.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace renar {

using Json = nlohmann::ordered_json;

/// The value that a text is. Throws Json::exception where it is no JSON, and renar::Error where it
/// is nested deeper than 32 or has an object of more than 10,000 keys: copies of the one would
/// exhaust the stack, and the other takes quadratic time.
Json parse_json(std::string_view text);

/// The value that a text is, if it is such JSON.
std::optional<Json> try_parse_json(std::string_view text);

}  // namespace renar
