// Scores as tables and as JSON.
#include "trainer/evaluation_report.h"

#include <doctest/doctest.h>

#include "core/json.h"

namespace renar::evaluation_report_test {
namespace {

Evaluation example() {
  Evaluation test{0.75, 0.25, {{"pi", 0.5, 0.125, 0}, {"a_longer_name", 1, 0.375, 1}}, 4, 17, 0.5};
  std::vector<double> falling;
  for (int t = 0; t < 11; ++t) falling.push_back(1 - t / 16.0);
  test.hints = {{"pi_h", Type::kPointer, 0.8125, 0.25, falling},
                {"d", Type::kScalar, 12.5, 1, std::vector<double>(11, 123456.0)}};
  test.running = std::vector<int>(11, 4);
  test.running.back() = 1;
  test.hints_exact = 0.25;
  return test;
}

TEST_CASE("evaluation_report: a row a length") {
  CHECK(score_heading({"pi", "a_longer_name"}) ==
        "  length  nodes  samples    score  trivial    exact       pi  a_longer_name\n");
  CHECK(score_row(16, example()) ==
        "      16     17        4   0.7500   0.2500   0.5000   0.5000         1.0000\n");
}

TEST_CASE("evaluation_report: hints at six frames, the last among them") {
  CHECK(hint_table(example()) ==
        "  hint             type                  score    exact       t=1       t=3       t=5"
        "       t=7       t=9      t=11\n"
        "  pi_h             pointer              0.8125   0.2500    1.0000    0.8750    0.7500"
        "    0.6250    0.5000    0.3750\n"
        "  d                scalar, its error      12.5        - 1.235e+05 1.235e+05 1.235e+05"
        " 1.235e+05 1.235e+05 1.235e+05\n"
        "  all hints                                      0.2500\n"
        "  samples with it                                               4         4         4"
        "         4         4         1\n");
}

TEST_CASE("evaluation_report: JSON has every frame, and null where there is no score") {
  Evaluation test = example();
  test.hints[0].score.reset();
  const Json json = json_of(test);
  CHECK(json["nodes"] == 17);
  CHECK(json["samples"] == 4);
  CHECK(json["score"] == 0.75);
  CHECK(json["trivial"] == 0.25);
  CHECK(json["exact"] == 0.5);
  CHECK(json["outputs"]["pi"] == Json({{"score", 0.5}, {"trivial", 0.125}, {"exact", 0.0}}));
  CHECK(json["hints"]["pi_h"]["score"].is_null());
  CHECK(json["hints"]["pi_h"]["along_time"].size() == 11);
  CHECK(json["hints"]["pi_h"]["along_time"][10] == 0.375);
  CHECK(json["hints"]["pi_h"]["type"] == "pointer");
  CHECK(json["hints"]["d"]["score"] == 12.5);
  CHECK_FALSE(json["hints"]["d"].contains("exact"));
  CHECK(json["running"][10] == 1);
  CHECK(json["hints_exact"] == 0.25);
  test.hints.clear();
  CHECK_FALSE(json_of(test).contains("hints"));
}

TEST_CASE("evaluation_report: one frame, and none") {
  Evaluation test = example();
  for (HintScore& hint : test.hints) hint.along_time.resize(1);
  test.running.resize(1);
  CHECK(hint_table(test).find("t=1\n") != std::string::npos);
  for (HintScore& hint : test.hints) hint.along_time.clear(), hint.score.reset();
  test.running.clear();
  CHECK(hint_table(test).find("  pi_h             pointer                   -   0.2500\n") !=
        std::string::npos);
}

}  // namespace
}  // namespace renar::evaluation_report_test
