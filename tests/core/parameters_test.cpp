// Named tensors in one buffer.
#include "core/parameters.h"

#include <doctest/doctest.h>

#include "core/check.h"

namespace renar::parameters_test {
namespace {

TEST_CASE("parameters: stand one after the other, start as zeros and are found by name") {
  Parameters parameters;
  const Param w = parameters.add("linear/w", {2, 3});
  const Param b = parameters.add("linear/b", {3});
  CHECK(parameters.size() == 9);
  CHECK(w.offset == 0);
  CHECK(b.offset == 6);
  for (std::int64_t i = 0; i < parameters.size(); ++i) CHECK(parameters.values()[i] == 0);
  parameters.at(b)[1] = 5;
  CHECK(parameters.values()[7] == 5);

  const Parameters& read_only = parameters;
  CHECK(read_only.at(b)[1] == 5);
  CHECK(read_only.find("linear/b").param.offset == 6);
  CHECK(read_only.find("linear/w").param.shape == Shape{2, 3});
  REQUIRE(read_only.entries().size() == 2);
  CHECK(read_only.entries()[0].name == "linear/w");
}

TEST_CASE("parameters: a name is given once, and a wrong one is answered with the nearest") {
  Parameters parameters;
  parameters.add("encoder/w", {2});
  parameters.add("decoder/w", {2});
  CHECK_THROWS_WITH_AS(parameters.add("encoder/w", {3}), "[parameters] encoder/w is defined twice",
                       Error);
  CHECK(parameters.size() == 4);
  CHECK_THROWS_WITH_AS(parameters.find("decodr/w"),
                       "[parameters] no parameter decodr/w; the nearest is decoder/w", Error);
  CHECK_THROWS_AS(Parameters().find("w"), Error);
}

}  // namespace
}  // namespace renar::parameters_test
