// json: what would exhaust the stack or the time is refused when it is read.
#include "core/json.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/check.h"

namespace renar::json_test {
namespace {

std::string nested(int depth) {
  const auto levels = static_cast<std::size_t>(depth);
  return std::string(levels, '[') + std::string(levels, ']');
}

std::string wide(int keys) {
  std::string text = "{\"k0\":0";
  for (int i = 1; i < keys; ++i) text += fmt::format(",\"k{}\":{}", i, i);
  return text + "}";
}

TEST_CASE("json: keys keep their order, and what is no JSON is none") {
  CHECK(parse_json(R"({"b":1,"a":[2,null]})").dump() == R"({"b":1,"a":[2,null]})");
  CHECK_THROWS_AS(parse_json("{"), Json::exception);
  CHECK_FALSE(try_parse_json("{"));
  CHECK(try_parse_json(" 3 ") == Json(3));
}

TEST_CASE("json: deep and wide values are refused") {
  CHECK(parse_json(nested(32)).is_array());
  CHECK_THROWS_AS(parse_json(nested(34)), Error);
  CHECK_THROWS_AS(parse_json(nested(1'000'000)), Error);
  CHECK_FALSE(try_parse_json("{\"a\":" + nested(200'000) + "}"));
  CHECK(parse_json(wide(10'000)).size() == 10'000);
  CHECK_THROWS_AS(parse_json(wide(10'001)), Error);
  CHECK_FALSE(try_parse_json("[" + wide(10'001) + "]"));
  CHECK(parse_json(wide(3), {.depth = 1, .keys = 3}).size() == 3);
  CHECK_THROWS_WITH_AS(parse_json(wide(4), {.depth = 1, .keys = 3}),
                       "[json] an object of more than 3 keys", Error);
  CHECK_THROWS_WITH_AS(parse_json(nested(3), {.depth = 1, .keys = 3}),
                       "[json] nested deeper than 1", Error);
}

TEST_CASE("json: an object that has a key twice is refused, two objects may share it") {
  CHECK_THROWS_WITH_AS(parse_json(R"({"a":{"b":1,"c":2,"b":1}})"),
                       "[json] the key 'b' stands twice", Error);
  CHECK_FALSE(try_parse_json(R"([{"b":1,"b":2}])"));
  CHECK(parse_json(R"([{"b":1},{"b":2,"a":{"b":3}}])").size() == 2);
}

}  // namespace
}  // namespace renar::json_test
