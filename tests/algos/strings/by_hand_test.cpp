// The string matchers on texts worked out by hand, on unusual ones, and on ones they must refuse.
#include <doctest/doctest.h>

#include <climits>
#include <string>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"

namespace renar {
Trace naive_string_matcher(const std::vector<int>& text, const std::vector<int>& pattern);
Trace kmp_matcher(const std::vector<int>& text, const std::vector<int>& pattern);
}  // namespace renar

namespace renar::strings_by_hand_test {
namespace {

using Values = std::vector<double>;

/// One-hot rows over `nodes` nodes, one a frame.
Values rows(const std::vector<int>& marks, int nodes) { return one_hot_rows(marks, nodes); }

Trace run(const char* algorithm, UserInput::Value haystack, UserInput::Value needle) {
  UserInput input;
  input.set("haystack", std::move(haystack));
  input.set("needle", std::move(needle));
  return find_algorithm(algorithm).run(input);
}

}  // namespace

TEST_CASE("naive_string_matcher: AB in AAB, frame by frame") {
  const Trace trace = naive_string_matcher({0, 0, 1}, {0, 1});
  CHECK(trace["string"] == Values{0, 0, 0, 1, 1});
  CHECK(trace["pos"] == Values{0, 1.0 / 3, 2.0 / 3, 0, 0.5});
  CHECK(trace["key"] == rows({0, 0, 1, 0, 1}, 4));
  CHECK(trace["pred_h"] == Values{0,      0, 1, 3, 3, /**/ 0, 0, 1, 3, 3, /**/ 0, 0, 1, 3, 3,
                                  /**/ 0, 0, 1, 3, 3});
  CHECK(trace["s"] == rows({0, 0, 1, 1}, 5));
  CHECK(trace["i"] == rows({0, 1, 1, 2}, 5));
  CHECK(trace["j"] == rows({3, 4, 3, 4}, 5));
  CHECK(trace["match"] == Values{0, 1, 0, 0, 0});
}

TEST_CASE("kmp_matcher: AAB in AAAB, frame by frame") {
  const Trace trace = kmp_matcher({0, 0, 0, 1}, {0, 0, 1});
  CHECK(trace["pred_h"].size() == 9 * 7);
  CHECK(trace["phase"] == Values{0, 0, 0, 0, 1, 1, 1, 1, 1});
  // The start, pi of the second letter, a fall back, pi of the third; then T, with a fall back at
  // its third letter.
  CHECK(trace["k"] == rows({4, 4, 4, 4, 4, 4, 4, 4, 4}, 7));
  CHECK(trace["k_reset"] == Values{1, 0, 1, 1, 1, 1, 1, 1, 1});
  CHECK(trace["q"] == rows({5, 5, 6, 6, 4, 4, 5, 4, 5}, 7));
  CHECK(trace["q_reset"] == Values{1, 1, 1, 1, 1, 0, 0, 0, 0});
  CHECK(trace["i"] == rows({0, 0, 0, 0, 0, 1, 2, 2, 3}, 7));
  CHECK(trace["s"] == rows({0, 0, 0, 0, 0, 0, 0, 0, 1}, 7));
  const Values &pi = trace["pi"], &is_reset = trace["is_reset"];
  CHECK(Values(pi.begin(), pi.begin() + 7) == Values{0, 1, 2, 3, 4, 5, 6});
  CHECK(Values(pi.begin() + 14, pi.begin() + 21) == Values{0, 1, 2, 3, 4, 4, 6});
  CHECK(Values(pi.end() - 7, pi.end()) == Values{0, 1, 2, 3, 4, 4, 4});
  CHECK(Values(is_reset.begin(), is_reset.begin() + 7) == Values{0, 0, 0, 0, 1, 0, 0});
  CHECK(Values(is_reset.end() - 7, is_reset.end()) == Values{0, 0, 0, 0, 1, 0, 1});
  CHECK(trace["match"] == Values{0, 1, 0, 0, 0, 0, 0});
}

TEST_CASE("strings: no match, a needle as long as the haystack, a single letter") {
  for (const char* name : {"naive_string_matcher", "kmp_matcher"}) {
    CAPTURE(name);
    const Trace none = run(name, std::string("AAA"), std::string("CA"));
    CHECK(none.complete());
    CHECK(none["match"] == Values{0, 0, 0, 1, 0});  // the needle's own first letter
    CHECK(run(name, std::string("acgt"), std::string("ACGT"))["match"][0] == 1);
    CHECK(run(name, std::string("ACGT"), std::string("ACGA"))["match"][4] == 1);
    CHECK(run(name, std::string("T"), Values{3})["match"] == Values{1, 0});
    CHECK(run(name, std::string("T"), Values{0})["match"] == Values{0, 1});
    CHECK(run(name, Values{2, 2, 1}, std::string("C"))["match"] == Values{0, 0, 1, 0});
  }
}

TEST_CASE("strings: a needle longer than the haystack, foreign letters, a missing name") {
  for (const char* name : {"naive_string_matcher", "kmp_matcher"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(run(name, std::string("AC"), std::string("ACG")), Error);
    CHECK_THROWS_AS(run(name, std::string("AC"), std::string("X")), UsageError);
    CHECK_THROWS_AS(run(name, std::string("AC"), std::string()), UsageError);
    CHECK_THROWS_AS(run(name, Values{0, 4}, Values{0}), UsageError);
    CHECK_THROWS_AS(find_algorithm(name).run(UserInput()), UsageError);
  }
  CHECK_THROWS_WITH_AS(naive_string_matcher({0}, {0, 1}),
                       "[naive_string_matcher] a needle of 2 letters in a haystack of 1, give at "
                       "least one and no more than the haystack has",
                       Error);
  CHECK_THROWS_AS(kmp_matcher({0}, {}), Error);
  CHECK_THROWS_AS(kmp_matcher({0, 4}, {0}), Error);
  CHECK_THROWS_AS(naive_string_matcher({0, -1}, {0}), Error);
}

TEST_CASE("strings: the sampler refuses a needle that may not fit, and draws nothing") {
  for (const char* name : {"naive_string_matcher", "kmp_matcher"}) {
    CAPTURE(name);
    const Algorithm& algorithm = find_algorithm(name);
    NumpyRandom random(1);
    const auto before = random.state();
    CHECK_THROWS_WITH_AS(algorithm.sample(random, 5, algorithm.training),
                         "[samplers] 5 letters are too few for a needle of up to 8 in a longer "
                         "haystack, ask for at least 17",
                         Error);
    CHECK_THROWS_AS(algorithm.sample(random, 16, algorithm.training), Error);
    CHECK_THROWS_AS(algorithm.sample(random, 8, {.length_needle = 4}), Error);
    for (const int length : {-3, 0, 1, 2}) {
      CHECK_THROWS_AS(algorithm.sample(random, length, {}), Error);
    }
    for (const int needle : {INT_MIN, INT_MAX}) {
      CHECK_THROWS_AS(algorithm.sample(random, 64, {.length_needle = needle}), Error);
    }
    CHECK(random.state() == before);

    CHECK(algorithm.sample(random, 17, algorithm.training).nodes() == 17);
    CHECK(algorithm.sample(random, 9, {.length_needle = 4}).nodes() == 9);
    CHECK(algorithm.sample(random, 3, {}).nodes() == 3);
  }
}

}  // namespace renar::strings_by_hand_test
