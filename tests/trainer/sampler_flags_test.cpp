#include "trainer/sampler_flags.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/check.h"

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

TEST_CASE("sampler flags: they change what was given, and a foreign one is refused") {
  const Algorithm& bfs = find_algorithm("bfs");
  const Algorithm& kmp = find_algorithm("kmp_matcher");
  const SamplerParams base = {.p = {0.25}, .length_needle = 3};
  CHECK(changed_params(bfs, base, {}, {}).p == base.p);
  CHECK(changed_params(bfs, base, {0.5, 0.75}, {}).p == std::vector<double>{0.5, 0.75});
  CHECK(changed_params(kmp, base, {}, {}).length_needle == 3);
  CHECK(changed_params(kmp, base, {}, -4).length_needle == -4);
  CHECK_THROWS_WITH_AS(changed_params(kmp, base, {0.5}, {}),
                       "--p is the edge probability of random graphs: kmp_matcher has none",
                       UsageError);
  CHECK_THROWS_AS(changed_params(bfs, base, {}, 4), UsageError);
}

}  // namespace
}  // namespace renar::sampler_flags_test
