// JSON: nlohmann's, with keys in the order in which they were set.
//
// Read a text by these functions and not by Json::parse, whose parser each file would then compile
// for itself, which takes seconds.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace renar {

using Json = nlohmann::ordered_json;

/// What a text may be: copies of a deep value would exhaust the stack, and an object of many keys
/// takes quadratic time.
struct JsonLimits {
  int depth = 32;
  std::size_t keys = 10'000;  ///< of an object
};

/// The value that a text is. Throws Json::exception where it is no JSON, and renar::Error where it
/// is beyond the limits or an object has a key twice.
Json parse_json(std::string_view text, const JsonLimits& limits = {});

/// The value that a text is, if it is such JSON.
std::optional<Json> try_parse_json(std::string_view text);

}  // namespace renar
