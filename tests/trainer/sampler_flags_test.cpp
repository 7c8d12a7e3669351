#include "trainer/sampler_flags.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace renar::sampler_flags_test {
namespace {

TEST_CASE("sampler flags: one that fits the sampler of any algorithm is not foreign") {
  const Algorithm& bfs = find_algorithm("bfs");
  const Algorithm& heapsort = find_algorithm("heapsort");
  const Algorithm& kmp = find_algorithm("kmp_matcher");
  CHECK(foreign_sampler_flag({&heapsort}, false, false).empty());
  CHECK(foreign_sampler_flag({&heapsort, &bfs}, true, false).empty());
  CHECK(foreign_sampler_flag({&kmp, &bfs}, true, true).empty());
  CHECK(foreign_sampler_flag({&heapsort, &kmp}, true, true) ==
        "--p is the edge probability of random graphs: heapsort, kmp_matcher have none");
  CHECK(foreign_sampler_flag({&bfs}, true, true) ==
        "--length-needle is of the string matchers: bfs has no needle");
}

}  // namespace
}  // namespace renar::sampler_flags_test
