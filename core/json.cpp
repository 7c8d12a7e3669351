#include "core/json.h"

#include <vector>

#include "core/check.h"

namespace renar {

Json parse_json(std::string_view text) {
  constexpr int kMostDepth = 32, kMostKeys = 10'000;
  std::vector<int> keys;  // of the objects that are open
  const auto watch = [&](int depth, Json::parse_event_t event, const Json&) {
    RENAR_CHECK(depth <= kMostDepth, "[json] nested deeper than {}", kMostDepth);
    if (event == Json::parse_event_t::object_start) keys.push_back(0);
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    RENAR_CHECK(event != Json::parse_event_t::key || ++keys.back() <= kMostKeys,
                "[json] an object of more than {} keys", kMostKeys);
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
