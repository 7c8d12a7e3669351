// columns: the raw numbers of several features side by side, and a last column of ones
// stack:   their encoders' weights one above the other, and the sum of their biases last
//
//   columns (rows, R + 1)   stack (R + 1, H)
//
// So the sum of the linear encodings of all features is the one product columns * stack
// (nn/features.h). A source of fewer rows is repeated: row r reads r / (rows / its rows).
#pragma once

#include "core/short_list.h"
#include "core/tape.h"

namespace renar {

constexpr int kMaxSources = 24;
using Sources = ShortList<Tensor, kMaxSources>;

/// Each source is (its rows, C), no two are the same numbers. Throws renar::Error where its rows do
/// not divide `rows`.
Tensor columns(Tape& tape, std::int64_t rows, const Sources& sources);

/// weights[k] (C_k, H), no two the same; biases[k] (H).
Tensor stack(Tape& tape, std::int64_t hidden, const Sources& weights, const Sources& biases);

}  // namespace renar
