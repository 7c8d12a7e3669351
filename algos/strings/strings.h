// What the string algorithms share. The letters of two strings are the nodes of one graph, the
// first string's n letters before the second's m: letter j of the second is node n + j.
#pragma once

#include <string_view>
#include <vector>

#include "algos/matrix.h"
#include "algos/user_input.h"

namespace renar {

constexpr int kAlphabet = static_cast<int>(kLetters.size());

/// The probe `string`: 0 on the first string's letters, 1 on the second's.
Mask string_ids(int n, int m);

/// The probe `pos`: i / n on the first, j / m on the second.
std::vector<double> string_positions(int n, int m);

/// The probe `pred_h`: each letter points to the one before it, the first of each string to itself.
std::vector<int> string_predecessors(int n, int m);

/// The letters of both, the first string's before the second's. Throws renar::Error for a letter
/// that the alphabet does not have.
std::vector<int> letters_of(const std::vector<int>& first, const std::vector<int>& second);

/// Throws renar::Error unless the pattern has at least one letter and is not longer than the text.
void check_pattern(std::string_view algorithm, const std::vector<int>& text,
                   const std::vector<int>& pattern);

}  // namespace renar
