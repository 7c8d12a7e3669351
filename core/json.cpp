#include "core/json.h"

#include <set>
#include <string>
#include <vector>

#include "core/check.h"

namespace renar {

Json parse_json(std::string_view text, const JsonLimits& limits) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    RENAR_CHECK(depth <= limits.depth, "[json] nested deeper than {}", limits.depth);
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string key = parsed.get<std::string>();
      RENAR_CHECK(keys.back().insert(key).second, "[json] the key '{}' stands twice", key);
      RENAR_CHECK(keys.back().size() <= limits.keys, "[json] an object of more than {} keys",
                  limits.keys);
    }
    return true;
  };
  return Json::parse(text, watch);
}

std::optional<Json> try_parse_json(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace renar
