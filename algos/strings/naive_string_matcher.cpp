// Naive string matching (CLRS, 3rd and 4th edition 32.1).
//
// The text T (the haystack, n letters) and the pattern P (the needle, m letters) are n + m nodes.
// Output: match, the node where the pattern's first occurrence in T begins. Hints: s, the shift
// that is tried; i and j, the two letters that are compared, T[i] with P[j]. A frame is recorded
// before each comparison.
//
// Where the benchmark leaves the textbook: it stops at the first match. Without one, match is the
// pattern's own first letter, node n (in the reference such a trace is malformed; its sampler
// always hides the pattern in the text).

#include <vector>

#include "algos/registry.h"
#include "algos/strings/strings.h"

namespace renar {
namespace {

const Spec& naive_string_matcher_spec() {
  static const Spec spec = {
      {"string", Stage::kInput, Location::kNode, Type::kMask},
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kCategorical, kAlphabet},
      {"match", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"s", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"j", Stage::kHint, Location::kNode, Type::kMaskOne},
  };
  return spec;
}

}  // namespace

/// Looks for the pattern in the text, both of letters 0 .. 3. Throws renar::Error on other letters,
/// an empty pattern or one that is longer than the text.
Trace naive_string_matcher(const std::vector<int>& text, const std::vector<int>& pattern) {
  check_pattern("naive_string_matcher", text, pattern);
  const int n = text.size(), m = pattern.size(), nodes = n + m;
  Trace trace(naive_string_matcher_spec(), nodes);
  trace.input({{"string", string_ids(n, m)},
               {"pos", string_positions(n, m)},
               {"key", one_hot_rows(letters_of(text, pattern), kAlphabet)}});

  const std::vector<int> pred = string_predecessors(n, m);
  int match = n;  // none found
  for (int s = 0; s <= n - m && match == n; ++s) {
    for (int j = 0; j < m; ++j) {
      trace.hint({{"pred_h", pred},
                  {"s", one_hot(s, nodes)},
                  {"i", one_hot(s + j, nodes)},
                  {"j", one_hot(n + j, nodes)}});
      if (text[s + j] != pattern[j]) break;
      if (j == m - 1) match = s;
    }
  }

  trace.output({{"match", one_hot(match, nodes)}});
  return trace;
}

namespace {

Trace sample_naive_string_matcher(NumpyRandom& random, int length, const SamplerParams& params) {
  const Strings strings = random_needle_in_haystack(random, length, params);
  return naive_string_matcher(strings.haystack, strings.needle);
}

Trace run_naive_string_matcher(const UserInput& input) {
  return naive_string_matcher(input.letters("haystack"), input.letters("needle"));
}

}  // namespace

Algorithm naive_string_matcher_algorithm() {
  return {.name = "naive_string_matcher",
          .category = Category::kStrings,
          .spec = naive_string_matcher_spec,
          .sample = sample_naive_string_matcher,
          .inputs = {"haystack", "needle"},
          .run = run_naive_string_matcher,
          .training = {.length_needle = -8},
          .multiplier = 64,
          .pred_is_input = true};
}

}  // namespace renar
