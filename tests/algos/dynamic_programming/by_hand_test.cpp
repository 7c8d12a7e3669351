// Dynamic programming on the textbook's examples, frame by frame on small inputs, on the smallest
// ones, and on what it must refuse.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"

namespace renar {
Trace matrix_chain_order(const std::vector<double>& p);  // algos/dynamic_programming/<name>.cpp
Trace lcs_length(const std::vector<int>& first, const std::vector<int>& second);
Trace optimal_bst(const std::vector<double>& p, const std::vector<double>& q);
}  // namespace renar

namespace renar::dynamic_programming_by_hand_test {
namespace {

using Values = std::vector<double>;
using Letters = std::vector<int>;

/// The numbers of the last frame.
Values last(const Values& frames, std::size_t count) {
  return {frames.end() - static_cast<std::ptrdiff_t>(count), frames.end()};
}

TEST_CASE("matrix_chain_order: the textbook's six matrices") {
  const Trace trace = matrix_chain_order({30, 35, 15, 5, 10, 20, 25});
  CHECK(trace["s"] == Values{0, 0, 0, 0, 0, 0, 0,  //
                             0, 0, 1, 1, 3, 3, 3,  //
                             0, 0, 0, 2, 3, 3, 3,  //
                             0, 0, 0, 0, 3, 3, 3,  //
                             0, 0, 0, 0, 0, 4, 5,  //
                             0, 0, 0, 0, 0, 0, 5,  //
                             0, 0, 0, 0, 0, 0, 0});
  CHECK(last(trace["m"], 49)[1 * 7 + 6] == 15125);
}

TEST_CASE("matrix_chain_order: three matrices, sweep by sweep") {
  const Trace trace = matrix_chain_order({1, 2, 3, 4});
  CHECK(trace["m"] == Values{0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 0,  0, 0, 0, 0,  //
                             0, 0, 0, 0, 0, 0, 6, 0,  0, 0, 0, 24, 0, 0, 0, 0,  //
                             0, 0, 0, 0, 0, 0, 6, 18, 0, 0, 0, 24, 0, 0, 0, 0});
  CHECK(trace["s_h"] == Values{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                               0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0,  //
                               0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 2, 0, 0, 0, 0});
  CHECK(trace["msk"] == Values{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1,  //
                               0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1,  //
                               0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1});
}

TEST_CASE("matrix_chain_order: no matrix, one, costs that are too small for doubles") {
  CHECK(matrix_chain_order({3})["s"] == Values{0});
  CHECK(matrix_chain_order({3, 4})["s"] == Values{0, 0, 0, 0});
  CHECK(matrix_chain_order({3, 4}).frames() == 1);
  CHECK(matrix_chain_order(Values(4, 1e-150))["s"][1 * 4 + 3] == 1);  // all costs are 0
}

TEST_CASE("matrix_chain_order: dimensions that are none") {
  CHECK_THROWS_WITH_AS(matrix_chain_order({2, 0, 3}),
                       "[matrix_chain_order] the dimension p[1] is 0, expected more than 0", Error);
  for (const double wrong : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    CHECK_THROWS_AS(matrix_chain_order({2, wrong}), Error);
  }
  CHECK_THROWS_AS(matrix_chain_order({1e200, 1e200, 1e200}), Error);  // the cost is infinite
  CHECK_THROWS_AS(matrix_chain_order({}), Error);
}

// ABCBDAB and BDCABA, with A, B, C, D as 0, 1, 2, 3.
TEST_CASE("lcs_length: the textbook's two strings") {
  const Trace trace = lcs_length({0, 1, 2, 1, 3, 0, 1}, {1, 3, 2, 0, 1, 0});
  const Values c = last(trace["c"], 13 * 13), b = trace["b"];
  const int lengths[7][6] = {{0, 0, 0, 1, 1, 1}, {1, 1, 1, 1, 2, 2}, {1, 1, 2, 2, 2, 2},
                             {1, 1, 2, 2, 3, 3}, {1, 2, 2, 2, 3, 3}, {1, 2, 2, 3, 3, 4},
                             {1, 2, 2, 3, 4, 4}};
  const std::string arrows[7] = {"uuudld", "dlludl", "uudluu", "duuudl",
                                 "uduuuu", "uuudud", "duuudu"};
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 6; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      CHECK(c[i * 13 + 7 + j] == lengths[i][j]);
      const std::size_t arrow = std::string("dul").find(arrows[i][static_cast<std::size_t>(j)]);
      CHECK(b[(i * 13 + 7 + j) * 4 + arrow] == 1);
    }
  }
}

TEST_CASE("lcs_length: AC and AC, sweep by sweep") {
  const Trace trace = lcs_length({0, 1}, {0, 1});
  CHECK(trace["string"] == Values{0, 0, 1, 1});
  CHECK(trace["pos"] == Values{0, 0.5, 0, 0.5});
  CHECK(trace["key"] == Values{1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0});
  CHECK(trace["pred_h"] == Values{0, 0, 2, 2, /**/ 0, 0, 2, 2});
  CHECK(trace["c"] == Values{0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                             0, 0, 1, 1, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0});
  const Values blank = {0, 0, 0, -1}, diagonal = {1, 0, 0, 0}, up = {0, 1, 0, 0},
               left = {0, 0, 1, 0};
  Values table;
  for (const Values& row : {blank, blank, diagonal, left, blank, blank, up, diagonal}) {
    table.insert(table.end(), row.begin(), row.end());
  }
  for (int i = 0; i < 8; ++i) table.insert(table.end(), blank.begin(), blank.end());
  CHECK(trace["b"] == table);
}

TEST_CASE("lcs_length: one letter each, and strings that are none") {
  CHECK(lcs_length({2}, {2})["b"] == Values{0, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, -1});
  CHECK(lcs_length({2}, {1})["b"] == Values{0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0, -1});
  CHECK(lcs_length({2}, {1}).frames() == 1);
  CHECK_THROWS_WITH_AS(lcs_length({}, {1}),
                       "[lcs_length] strings of 0 and 1 letters, give each at least one", Error);
  CHECK_THROWS_AS(lcs_length({0, 4}, {1}), Error);
  CHECK_THROWS_AS(lcs_length({-1}, {1}), Error);

  NumpyRandom random(5);
  const Algorithm& algorithm = find_algorithm("lcs_length");
  CHECK_THROWS_WITH_AS(algorithm.sample(random, 1, {}),
                       "[lcs_length] length 1 is that of two strings, give at least 2", Error);
  CHECK(algorithm.sample(random, 2, {})["string"] == Values{0, 1});
  CHECK(algorithm.sample(random, 5, {})["string"] == Values{0, 0, 0, 1, 1});

  UserInput input;
  input.set("a", std::string("G"));
  input.set("b", std::string("tg"));
  CHECK(algorithm.run(input)["b"] == lcs_length({2}, {3, 2})["b"]);
}

// Figure 15.10 of the 3rd edition, 14.10 of the 4th; its roots count from 1.
TEST_CASE("optimal_bst: the textbook's five keys") {
  const Trace trace =
      optimal_bst({0.15, 0.10, 0.05, 0.10, 0.20}, {0.05, 0.10, 0.05, 0.05, 0.05, 0.10});
  CHECK(trace["root"] == Values{0, 0, 0, 1, 1, 1,  //
                                0, 0, 1, 1, 1, 3,  //
                                0, 0, 0, 2, 3, 4,  //
                                0, 0, 0, 0, 3, 4,  //
                                0, 0, 0, 0, 0, 4,  //
                                0, 0, 0, 0, 0, 0});
  CHECK(last(trace["e"], 36)[5] == doctest::Approx(2.75));
  CHECK(last(trace["w"], 36)[5] == doctest::Approx(1));
}

TEST_CASE("optimal_bst: two keys, frame by frame") {
  const Trace trace = optimal_bst({4, 8}, {1, 2, 1});
  CHECK(trace["p"] == Values{4, 8, 0});
  CHECK(trace["w"] == Values{1, 0, 0,  0, 2, 0,  0, 0, 1,  //
                             1, 7, 0,  0, 2, 11, 0, 0, 1,  //
                             1, 7, 16, 0, 2, 11, 0, 0, 1});
  CHECK(trace["e"] == Values{1, 0,  0,  0, 2, 0,  0, 0, 1,  //
                             1, 10, 0,  0, 2, 14, 0, 0, 1,  //
                             1, 10, 27, 0, 2, 14, 0, 0, 1});
  CHECK(trace["root_h"] == Values{0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                                  0, 0, 0, 0, 0, 1, 0, 0, 0,  //
                                  0, 0, 1, 0, 0, 1, 0, 0, 0});
  CHECK(last(trace["msk"], 9) == Values{1, 1, 1, 0, 1, 1, 0, 0, 1});
}

TEST_CASE("optimal_bst: large weights, and probabilities that are none") {
  CHECK(optimal_bst({1e12, 1e13}, {0, 0, 0})["root"][2] == 1);
  CHECK_THROWS_WITH_AS(optimal_bst({0.5}, {0.5}),
                       "[optimal_bst] p has 1 entries and q 1, expected at least one key and q one "
                       "longer",
                       Error);
  CHECK_THROWS_AS(optimal_bst({}, {1}), Error);
  CHECK_THROWS_WITH_AS(optimal_bst({0.5}, {0.7, -0.2}),
                       "[optimal_bst] q[1] is -0.2, expected at least 0", Error);
  for (const double wrong : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    CHECK_THROWS_AS(optimal_bst({wrong}, {1, 1}), Error);
    CHECK_THROWS_AS(optimal_bst({1}, {wrong, 1}), Error);
  }
  CHECK_THROWS_AS(optimal_bst({1e308, 1e308}, {0, 0, 0}), Error);  // the cost is infinite
}

TEST_CASE("dynamic programming: the smallest samples come to an end") {
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.category != Category::kDynamicProgramming) continue;
    CAPTURE(algorithm.name);
    NumpyRandom random(6);
    CHECK_THROWS_AS(algorithm.sample(random, 0, {}), Error);
    CHECK_THROWS_AS(algorithm.sample(random, -1, {}), Error);
    for (int length = algorithm.name == "lcs_length" ? 2 : 1; length <= 4; ++length) {
      CHECK(algorithm.sample(random, length, {}).complete());
    }
  }
}

}  // namespace
}  // namespace renar::dynamic_programming_by_hand_test
