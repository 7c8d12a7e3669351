// The Knuth-Morris-Pratt string matcher (CLRS, 3rd and 4th edition 32.4; Knuth, Morris and Pratt,
// 1977).
//
// The text T (the haystack, n letters) and the pattern P (the needle, m letters) are n + m nodes.
// Output: match, the node where the pattern's first occurrence in T begins. Letters count from 0
// and a prefix of P is named by its last letter; the empty prefix has none, so it is shown as
// letter 0 with a flag: is_reset for pi, k_reset for k, q_reset for q. Phase 0 is
// COMPUTE-PREFIX-FUNCTION: pi and is_reset, q, the letter whose pi is sought (q_reset stays 1), and
// k, the longest border so far. Phase 1 is KMP-MATCHER: q, the matched prefix, i, the letter of T
// at hand, and s, where a match that ends at i would begin (0 if there is no room for one yet). A
// frame is recorded at the start, at each pi that is found, at each letter of T and after each fall
// back to a shorter prefix.
//
// Where the benchmark leaves the textbook: it stops at the first match; without one, match is the
// pattern's own first letter, node n. pi points from a letter to itself until it is found.

#include <algorithm>
#include <vector>

#include "algos/registry.h"
#include "algos/strings/strings.h"

namespace renar {
namespace {

const Spec& kmp_matcher_spec() {
  static const Spec spec = {
      {"string", Stage::kInput, Location::kNode, Type::kMask},
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kCategorical, kAlphabet},
      {"match", Stage::kOutput, Location::kNode, Type::kMaskOne},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"pi", Stage::kHint, Location::kNode, Type::kPointer},
      {"is_reset", Stage::kHint, Location::kNode, Type::kMask},
      {"k", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"k_reset", Stage::kHint, Location::kGraph, Type::kMask},
      {"q", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"q_reset", Stage::kHint, Location::kGraph, Type::kMask},
      {"s", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"phase", Stage::kHint, Location::kGraph, Type::kMask},
  };
  return spec;
}

enum KmpPhase { kPrefixFunction, kMatching };

constexpr int kEmpty = -1;  // the prefix without letters

}  // namespace

/// Looks for the pattern in the text, both of letters 0 .. 3. Throws renar::Error on other letters,
/// an empty pattern or one that is longer than the text.
Trace kmp_matcher(const std::vector<int>& text, const std::vector<int>& pattern) {
  check_pattern("kmp_matcher", text, pattern);
  const int n = text.size(), m = pattern.size(), nodes = n + m;
  Trace trace(kmp_matcher_spec(), nodes);
  trace.input({{"string", string_ids(n, m)},
               {"pos", string_positions(n, m)},
               {"key", one_hot_rows(letters_of(text, pattern), kAlphabet)}});

  const std::vector<int> pred = string_predecessors(n, m);
  std::vector<int> pi = self_pointers(m);
  int k = kEmpty, q = 0, s = 0, i = 0;
  const auto prefix = [&](int last) { return n + std::max(last, 0); };
  const auto record = [&](KmpPhase phase) {
    std::vector<int> pi_nodes = self_pointers(nodes);
    Mask is_reset(nodes);
    for (int j = 0; j < m; ++j) {
      pi_nodes[n + j] = prefix(pi[j]);
      is_reset[n + j] = pi[j] == kEmpty;
    }
    trace.hint({{"pred_h", pred},
                {"pi", pi_nodes},
                {"is_reset", is_reset},
                {"k", one_hot(prefix(k), nodes)},
                {"k_reset", k == kEmpty},
                {"q", one_hot(prefix(q), nodes)},
                {"q_reset", phase == kPrefixFunction || q == kEmpty},
                {"s", one_hot(s, nodes)},
                {"i", one_hot(i, nodes)},
                {"phase", phase}});
  };

  pi[0] = kEmpty;
  q = std::min(1, m - 1);
  record(kPrefixFunction);
  for (q = 1; q < m; ++q) {
    while (k != kEmpty && pattern[k + 1] != pattern[q]) {
      k = pi[k];
      record(kPrefixFunction);
    }
    if (pattern[k + 1] == pattern[q]) ++k;
    pi[q] = k;
    record(kPrefixFunction);
  }

  int match = n;  // none found
  q = kEmpty;
  for (i = 0; i < n && match == n; ++i) {
    s = std::max(0, i - m + 1);
    record(kMatching);
    while (q != kEmpty && pattern[q + 1] != text[i]) {
      q = pi[q];
      record(kMatching);
    }
    if (pattern[q + 1] == text[i]) ++q;
    if (q == m - 1) match = s;  // all of P is matched
  }

  trace.output({{"match", one_hot(match, nodes)}});
  return trace;
}

namespace {

Trace sample_kmp_matcher(NumpyRandom& random, int length, const SamplerParams& params) {
  const Strings strings = random_needle_in_haystack(random, length, params);
  return kmp_matcher(strings.haystack, strings.needle);
}

Trace run_kmp_matcher(const UserInput& input) {
  return kmp_matcher(input.letters("haystack"), input.letters("needle"));
}

}  // namespace

Algorithm kmp_matcher_algorithm() {
  return {.name = "kmp_matcher",
          .category = Category::kStrings,
          .spec = kmp_matcher_spec,
          .sample = sample_kmp_matcher,
          .inputs = {"haystack", "needle"},
          .run = run_kmp_matcher,
          .training = {.length_needle = -8},
          .multiplier = 64,
          .pred_is_input = true};
}

}  // namespace renar
