// The user's own input: every form it may have, and one line for every way it can be wrong.
#include "algos/user_input.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"

namespace renar::user_input_test {
namespace {

UserInput one(const std::string& name, UserInput::Value value) {
  UserInput input;
  input.set(name, std::move(value));
  return input;
}

TEST_CASE("user_input: each form is handed out as it was given") {
  UserInput input;
  Matrix table(2, 2);
  table(0, 1) = 3;
  input.set("A", table);
  input.set("edges", Matrix(2, 3));
  input.set("s", 1.0);
  input.set("key", std::vector<double>{0.5, -1});
  input.set("a", std::string("GaTc"));
  input.set("b", std::vector<double>{3, 0});
  CHECK(input.matrix("A")(0, 1) == 3);
  CHECK(input.table("edges").columns() == 3);
  CHECK(input.index("s") == 1);
  CHECK(input.number("s") == 1);
  CHECK(input.list("key") == std::vector<double>{0.5, -1});
  CHECK(input.letters("a") == std::vector<int>{2, 0, 3, 1});
  CHECK(input.letters("b") == std::vector<int>{3, 0});
}

TEST_CASE("user_input: what is wrong is named") {
  CHECK_THROWS_WITH_AS(UserInput().number("s"), "the input 's' is missing", UsageError);
  CHECK_THROWS_WITH_AS(one("s", std::string("x")).number("s"),
                       "the input 's' is the string \"x\", expected a number", UsageError);
  CHECK_THROWS_WITH_AS(one("A", 3.0).matrix("A"),
                       "the input 'A' is the number 3, expected a square table of numbers",
                       UsageError);
  CHECK_THROWS_WITH_AS(one("A", Matrix(2, 3)).matrix("A"),
                       "the input 'A' has 2 rows of 3 numbers, expected a square table",
                       UsageError);
  for (const double wrong : {-1.0, 0.5, 1e12, static_cast<double>(NAN)}) {
    CHECK_THROWS_AS(one("s", wrong).index("s"), UsageError);
  }
  CHECK_THROWS_AS(one("key", std::vector<double>()).list("key"), UsageError);
  CHECK_THROWS_AS(one("key", std::vector<double>{1, INFINITY}).list("key"), UsageError);
  CHECK_THROWS_AS(one("A", Matrix(0, 0)).matrix("A"), UsageError);
  CHECK_THROWS_AS(one("edges", 3.0).table("edges"), UsageError);
  CHECK_THROWS_AS(one("edges", Matrix(0, 0)).table("edges"), UsageError);
  CHECK_THROWS_AS(one("a", std::string()).letters("a"), UsageError);
  CHECK_THROWS_AS(one("a", std::vector<double>{0, 4}).letters("a"), UsageError);
  CHECK_THROWS_WITH_AS(one("a", std::string("ACU")).letters("a"),
                       "the input 'a' has the letter 'U', expected letters of ACGT", UsageError);
}

}  // namespace
}  // namespace renar::user_input_test
