// The user's own input from a JSON file, for `renar_data trace --input`. One object, a key for each
// thing that the algorithm takes:
//
//   {"A": [[0, 1, 0], [0, 0, 1], [0, 0, 0]], "s": 0}     tables of numbers, numbers
//   {"haystack": "GATTACA", "needle": "TA"}              strings, lists of numbers
//
// The file may hold anything: whatever is not such an object is refused in one line that names the
// file, the key and the place in it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "algos/user_input.h"

namespace renar {

/// The largest list, string or side of a table: a trace is made to be looked at, and its hints may
/// grow with the cube of it.
constexpr std::size_t kMaxInputSize = 256;

/// The input in a file that has just the keys in `names`. Throws UsageError.
UserInput read_json_input(const std::string& path, std::span<const std::string> names);

/// The input in a text; `where` names it in errors.
UserInput parse_json_input(std::string_view text, const std::string& where,
                           std::span<const std::string> names);

}  // namespace renar
