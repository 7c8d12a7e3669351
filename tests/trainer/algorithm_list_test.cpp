// The list of algorithms: the text for a person, the JSON for a program.
#include "trainer/algorithm_list.h"

#include <doctest/doctest.h>

#include <string>

#include "algos/registry.h"
#include "core/json.h"

namespace renar::algorithm_list_test {

TEST_CASE("algorithm_list: an entry in full, and none without") {
  const std::string text = algorithm_list();
  CHECK(text.find(R"(dfs (graphs), input A, 32 test samples
  input   node scalar: pos; edge scalar: A; edge mask: adj
  output  node pointer: pi
  hint    node pointer: pi_h s_prev; node categorical(3): color; node scalar: d f;
          node mask_one: s u v s_last; graph scalar: time
)") != std::string::npos);
  for (const Algorithm& algorithm : algorithms()) {
    CHECK(text.find(algorithm.name + " (" + std::string(name_of(algorithm.category))) !=
          std::string::npos);
  }
}

TEST_CASE("algorithm_list: the JSON has every probe in the order of its spec") {
  const Json list = parse_json(algorithm_list_json())["algorithms"];
  REQUIRE(list.size() == algorithms().size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Algorithm& algorithm = algorithms()[i];
    CHECK(list[i]["name"] == algorithm.name);
    CHECK(list[i]["inputs"] == algorithm.inputs);
    CHECK(list[i]["multiplier"] == algorithm.multiplier);
    CHECK(list[i]["pred_is_input"] == algorithm.pred_is_input);
    REQUIRE(list[i]["probes"].size() == algorithm.spec().size());
    for (std::size_t p = 0; p < algorithm.spec().size(); ++p) {
      const Probe& probe = algorithm.spec()[p];
      CHECK(list[i]["probes"][p]["name"] == probe.name);
      CHECK(list[i]["probes"][p]["stage"] == name_of(probe.stage));
      CHECK(list[i]["probes"][p]["location"] == name_of(probe.location));
      CHECK(list[i]["probes"][p]["type"] == name_of(probe.type));
      CHECK(list[i]["probes"][p].value("classes", 0) == probe.classes);
    }
  }
}

}  // namespace renar::algorithm_list_test
