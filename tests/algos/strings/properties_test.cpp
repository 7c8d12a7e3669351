// The string matchers on thousands of random texts: the first match is found, by both, and the
// frames are the textbook's comparisons.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "algos/registry.h"

namespace renar {
Trace naive_string_matcher(const std::vector<int>& text, const std::vector<int>& pattern);
Trace kmp_matcher(const std::vector<int>& text, const std::vector<int>& pattern);
}  // namespace renar

namespace renar::strings_properties_test {
namespace {

using Letters = std::vector<int>;
using Values = std::vector<double>;

int marked(const Values& one_hot) {
  return static_cast<int>(std::find(one_hot.begin(), one_hot.end(), 1.0) - one_hot.begin());
}

/// Where the pattern first occurs in the text, its length if nowhere: std::search as the oracle.
int first_match(const Letters& text, const Letters& pattern) {
  return static_cast<int>(std::search(text.begin(), text.end(), pattern.begin(), pattern.end()) -
                          text.begin());
}

/// The letters that are compared until the first match is complete, shift by shift.
int comparisons(const Letters& text, const Letters& pattern) {
  const int n = text.size(), m = pattern.size(), match = first_match(text, pattern);
  int count = 0;
  for (int s = 0; s <= std::min(match, n - m); ++s) {
    const auto differ = std::mismatch(pattern.begin(), pattern.end(), text.begin() + s);
    count += std::min<int>(differ.first - pattern.begin() + 1, m);
  }
  return count;
}

/// The length of the longest proper prefix of P[0..q] that is also its suffix, by trying all.
int longest_border(const Letters& pattern, int q) {
  for (int length = q; length > 0; --length) {
    if (std::equal(pattern.begin(), pattern.begin() + length, pattern.begin() + q + 1 - length)) {
      return length;
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("strings: both matchers find the first match, in the textbook's comparisons") {
  NumpyRandom random(11);
  int found = 0, missed = 0, filled = 0;
  for (int sample = 0; sample < 4000; ++sample) {
    const int m = 1 + random.choice(6), n = m + random.choice(16), letters = 1 + random.choice(4);
    const Letters text = random_string(random, n, letters);
    const Letters pattern = random_string(random, m, letters);
    const int match = first_match(text, pattern);
    const Trace naive = naive_string_matcher(text, pattern), kmp = kmp_matcher(text, pattern);
    REQUIRE(marked(naive["match"]) == match);
    REQUIRE(kmp["match"] == naive["match"]);
    REQUIRE(naive.complete());
    REQUIRE(kmp.complete());

    REQUIRE(naive.frames() == comparisons(text, pattern));
    REQUIRE(kmp.frames() <= 1 + 2 * (m - 1) + 2 * n);  // each fall back undoes one step
    ++(match == n ? missed : found);
    if (n == m) ++filled;
  }
  CHECK(std::min({found, missed, filled}) > 100);
}

TEST_CASE("strings: pi of kmp_matcher is the longest border") {
  NumpyRandom random(12);
  for (int sample = 0; sample < 2000; ++sample) {
    const int m = 1 + random.choice(12), n = m + random.choice(4);
    const Letters pattern = random_string(random, m, 1 + random.choice(3));
    const Trace trace = kmp_matcher(random_string(random, n, 4), pattern);
    const Values &pi = trace["pi"], &is_reset = trace["is_reset"];
    for (int q = 0; q < m; ++q) {
      const int border = longest_border(pattern, q);
      REQUIRE(pi[pi.size() - m + q] == n + std::max(border - 1, 0));  // its last letter
      REQUIRE(is_reset[is_reset.size() - m + q] == (border == 0 ? 1 : 0));
    }
  }
}

TEST_CASE("strings: a sampled needle is in its haystack, of every length that was asked for") {
  for (const char* name : {"naive_string_matcher", "kmp_matcher"}) {
    CAPTURE(name);
    const Algorithm& algorithm = find_algorithm(name);
    NumpyRandom random(13);
    std::set<double> needles;
    for (int sample = 0; sample < 300; ++sample) {
      const Trace trace = algorithm.sample(random, 20, algorithm.training);
      const Values strings = trace["string"];
      const double m = std::count(strings.begin(), strings.end(), 1.0);
      needles.insert(m);
      REQUIRE(trace.nodes() == 20);
      REQUIRE(marked(trace["match"]) < 20 - 2 * m);  // never at the last place that would do
    }
    CHECK(needles == std::set<double>{1, 2, 3, 4, 5, 6, 7, 8});
    const Values longer = algorithm.sample(random, 64, algorithm.dataset)["string"];
    CHECK(std::count(longer.begin(), longer.end(), 1.0) == 12);
  }
}

}  // namespace renar::strings_properties_test
