// Scores as people and as programs read them: tables for a terminal, and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trainer/evaluate.h"

namespace renar {

/// {"nodes", "samples", "score", "trivial", "exact", "outputs": {name: {score, trivial, exact}}};
/// where hints were scored also "hints_exact", "running" and
/// "hints": {name: {type, score, exact, along_time}}. A score that does not exist is null.
nlohmann::ordered_json json_of(const Evaluation& test);

/// A table of one algorithm's tests, a row a length: its heading, and a row. `outputs` names the
/// last columns.
std::string score_heading(const std::vector<std::string>& outputs);
std::string score_row(int length, const Evaluation& test);

/// The table of a test's hints: a row each with its mean, its exact share and its score at up to
/// kShownFrames frames.
constexpr std::size_t kShownFrames = 6;
std::string hint_table(const Evaluation& test);

}  // namespace renar
