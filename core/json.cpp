#include "core/json.h"

namespace renar {

Json parse_json(std::string_view text) { return Json::parse(text); }

std::optional<Json> try_parse_json(std::string_view text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace renar
