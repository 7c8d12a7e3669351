// A short list keeps what it is given, in order, and says so where there is no more room.
#include "core/short_list.h"

#include <doctest/doctest.h>

#include <vector>

namespace renar::short_list_test {
namespace {

TEST_CASE("short list: entries in order, as many as fit") {
  ShortList<int, 3> list{5, 6};
  list.add(7);
  CHECK(list.size() == 3);
  CHECK(list[1] == 6);
  CHECK(std::vector<int>(list.begin(), list.end()) == std::vector<int>{5, 6, 7});
  CHECK_THROWS_WITH_AS(list.add(8), "[short list] more than 3 entries", Error);
  CHECK(list.size() == 3);
}

}  // namespace
}  // namespace renar::short_list_test
