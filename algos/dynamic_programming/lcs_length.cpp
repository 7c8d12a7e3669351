// Longest common subsequence (CLRS, 3rd edition 15.4, 4th edition 14.4).
//
// Input: the strings a and b one after the other as N = |a| + |b| nodes. Cell (i,j) of the
// textbook's tables is the edge from letter i of a to letter j of b, the other edges are blank.
// Output: the arrows b (N,N,4): one of `Arrow` in a cell, and in the last class -1 (masked out) on
// a blank edge. Following the arrows from the last cell gives the subsequence, a letter at each
// diagonal one. Hints: c(N,N), the lengths, 0 on blank edges, and the arrows b_h.
//
// Where the benchmark leaves the textbook: there is no row or column 0, so the cells of the first
// letters are filled in before the first frame. Then every sweep updates all other cells at once
// from the c of the sweep before, one frame a sweep, until c stands still. Cells that no sweep has
// reached hold length 0 and a diagonal arrow. At length n the sampler draws n - n/2 letters of a
// and n/2 of b.

#include <vector>

#include "algos/registry.h"
#include "algos/strings/strings.h"
#include "core/check.h"

namespace renar {
namespace {

/// Where the subsequence of a cell goes on: without both letters, without that of a, without that
/// of b. kBlank is the class of edges that are no cell.
enum Arrow { kDiagonal, kUp, kLeft, kBlank };
constexpr int kArrows = 4;

const Spec& lcs_length_spec() {
  static const Spec spec = {
      {"string", Stage::kInput, Location::kNode, Type::kMask},
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"key", Stage::kInput, Location::kNode, Type::kCategorical, kAlphabet},
      {"b", Stage::kOutput, Location::kEdge, Type::kCategorical, kArrows},
      {"pred_h", Stage::kHint, Location::kNode, Type::kPointer},
      {"b_h", Stage::kHint, Location::kEdge, Type::kCategorical, kArrows},
      {"c", Stage::kHint, Location::kEdge, Type::kScalar},
  };
  return spec;
}

/// The arrows before the first: diagonal in the cells, of which there are n rows, else blank.
IntMatrix no_arrows(int n, int nodes) {
  IntMatrix b(nodes, nodes);
  for (int i = 0; i < nodes; ++i) {
    for (int j = 0; j < nodes; ++j) b(i, j) = i < n && j >= n ? kDiagonal : ~kBlank;
  }
  return b;
}

}  // namespace

/// Finds a longest common subsequence of two strings of the letters 0 .. 3. Throws renar::Error
/// for an empty string or another letter.
Trace lcs_length(const std::vector<int>& first, const std::vector<int>& second) {
  RENAR_CHECK(!first.empty() && !second.empty(),
              "[lcs_length] strings of {} and {} letters, give each at least one", first.size(),
              second.size());
  const int n = static_cast<int>(first.size()), m = static_cast<int>(second.size());
  const int nodes = n + m;
  const std::vector<int> x = letters_of(first, second);  // x[j], j >= n, belongs to column j
  const std::vector<int> pred = string_predecessors(n, m);
  Trace trace(lcs_length_spec(), nodes);
  trace.input({{"string", string_ids(n, m)},
               {"pos", string_positions(n, m)},
               {"key", one_hot_rows(x, kAlphabet)}});

  Matrix c(nodes, nodes);
  IntMatrix b = no_arrows(n, nodes);
  const auto set = [&](int i, int j, double length, Arrow arrow) {
    c(i, j) = length;
    b(i, j) = arrow;
  };

  for (int i = 0; i < n; ++i) {  // the first column
    if (x[i] == x[n]) {
      set(i, n, 1, kDiagonal);
    } else {
      set(i, n, i > 0 ? c(i - 1, n) : 0, kUp);
    }
  }
  for (int j = n + 1; j < nodes; ++j) {  // the first row
    if (x[0] == x[j]) {
      set(0, j, 1, kDiagonal);
    } else {
      set(0, j, c(0, j - 1), c(0, j - 1) == 1 ? kLeft : kUp);
    }
  }

  Matrix before(nodes, nodes);
  do {
    trace.hint({{"pred_h", pred}, {"b_h", one_hot_rows(b.values(), kArrows)}, {"c", c}});
    before = c;
    for (int i = 1; i < n; ++i) {
      for (int j = n + 1; j < nodes; ++j) {
        if (x[i] == x[j]) {
          set(i, j, before(i - 1, j - 1) + 1, kDiagonal);
        } else if (before(i - 1, j) >= before(i, j - 1)) {
          set(i, j, before(i - 1, j), kUp);
        } else {
          set(i, j, before(i, j - 1), kLeft);
        }
      }
    }
  } while (c.values() != before.values());

  trace.output({{"b", one_hot_rows(b.values(), kArrows)}});
  return trace;
}

namespace {

Trace sample_lcs_length(NumpyRandom& random, int length, const SamplerParams&) {
  RENAR_CHECK(length >= 2, "[lcs_length] length {} is that of two strings, give at least 2",
              length);
  const std::vector<int> first = random_string(random, length - length / 2, kAlphabet);
  return lcs_length(first, random_string(random, length / 2, kAlphabet));
}

Trace run_lcs_length(const UserInput& input) {
  return lcs_length(input.letters("a"), input.letters("b"));
}

}  // namespace

Algorithm lcs_length_algorithm() {
  return {.name = "lcs_length",
          .category = Category::kDynamicProgramming,
          .spec = lcs_length_spec,
          .sample = sample_lcs_length,
          .inputs = {"a", "b"},
          .run = run_lcs_length,
          .pred_is_input = true};
}

}  // namespace renar
