// The user's own input as JSON: what is read, what each kind of wrong file is told, and damaged
// files all the way through the algorithms.
#include "trainer/json_input.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "algos/registry.h"
#include "core/check.h"
#include "tests/core/mutate.h"
#include "trainer/trace_table.h"

namespace renar::json_input_test {
namespace {

const std::vector<std::string> kGraph = {"A", "s"};

UserInput parse(const std::string& text, const std::vector<std::string>& names = kGraph) {
  return parse_json_input(text, "g.json", names);
}

/// The message that a text is refused with; empty if it is read.
std::string refusal(const std::string& text, const std::vector<std::string>& names = kGraph) {
  try {
    parse(text, names);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// A value for one of the algorithm's inputs that it has an answer for.
std::string value_of(const Algorithm& algorithm, const std::string& name) {
  if (name == "A" && algorithm.name == "dag_shortest_paths") return "[[0, 2], [0, 0]]";
  if (name == "A" && algorithm.name == "topological_sort") return "[[0, 1], [0, 0]]";
  if (name == "A") return "[[0, 2, 0, 1], [2, 0, 0, 3], [0, 0, 1, 0], [1, 3, 0, 0]]";
  if (name == "s" && algorithm.category == Category::kGraphs) return "1";
  if (name == "target") return "2";
  if (name == "f") return "[1, 3, 4, 5]";
  if (name == "d") return "[1, 2, 2, 3]";
  if (name == "x") return "[0, 1, 0.5, 3]";
  if (name == "y") return "[0, 0.1, 2, 1]";
  if (name == "a" || name == "b" || name == "needle") return R"("CT")";
  if (name == "haystack") return R"("GATCTA")";
  if (name == "edges") return "[[1, 0, 0], [1, 1, 0]]";                      // bipartite_matching
  if (name == "p" && algorithm.inputs.size() > 1) return "[0.1, 0.2, 0.3]";  // optimal_bst
  if (name == "q") return "[0.1, 0.1, 0.1, 0.1]";
  return "[0.5, 1, 2, 4]";
}

std::string example(const Algorithm& algorithm) {
  std::string text;
  for (const std::string& name : algorithm.inputs) {
    text += (text.empty() ? "{\"" : ", \"") + name + "\": " + value_of(algorithm, name);
  }
  return text + "}";
}

TEST_CASE("json_input: numbers, lists, tables and strings") {
  const UserInput graph = parse(R"({"s": 1, "A": [[0, -2.5], [1e3, 0]]})");
  CHECK(graph.index("s") == 1);
  CHECK(graph.matrix("A").values() == std::vector<double>{0, -2.5, 1000, 0});
  const UserInput text = parse(R"({"a": "GaT", "b": [3, 0]})", {"a", "b"});
  CHECK(text.letters("a") == std::vector<int>{2, 0, 3});
  CHECK(text.letters("b") == std::vector<int>{3, 0});
  CHECK(parse("\xef\xbb\xbf {\"s\":18446744073709551616}", {"s"}).number("s") ==
        18446744073709551616.0);
}

TEST_CASE("json_input: what is wrong is named with file, key and place") {
  CHECK(refusal("") ==
        "g.json, line 1, column 1: syntax error while parsing value - unexpected end of input; "
        "expected '[', '{', or a literal");
  CHECK(refusal("{\n \"s\": x}").starts_with("g.json, line 2, column 7: syntax error"));
  CHECK(refusal(R"({"s": 1e999})").starts_with("g.json, line 1, column "));
  CHECK(refusal(R"({"s": 1e999})").ends_with("number overflow parsing '1e999'"));
  CHECK(refusal("[1]") ==
        "g.json holds a list, expected an object: the algorithm takes {\"A\": .., \"s\": ..}");
  CHECK(refusal("3").starts_with("g.json holds a number, expected an object"));
  CHECK(refusal("\"A\"").starts_with("g.json holds the string \"A\", expected an object"));
  CHECK(refusal("null").starts_with("g.json holds null, expected an object"));
  CHECK(refusal(R"({"A": [[0]]})") ==
        "g.json: the key \"s\" is missing; the algorithm takes {\"A\": .., \"s\": ..}");
  CHECK(refusal(R"({"adj": 1})") ==
        "g.json: unknown key \"adj\"; the nearest match is \"A\", the algorithm takes {\"A\": .., "
        "\"s\": ..}");
  CHECK(refusal(R"({"s": 1, "s": 1})") == "g.json: the key \"s\" stands twice");
  CHECK(refusal(R"({"A": [[1, 2], [3]], "s": 0})") ==
        "g.json: row 1 of \"A\" has 1 numbers, row 0 has 2");
  CHECK(refusal(R"({"A": [[1, "2"]]})") ==
        "g.json: element 1 of row 0 of \"A\" is the string \"2\", expected numbers, a list or a "
        "table of them, or a string of letters");
  CHECK(refusal(R"({"A": [1, true]})").starts_with("g.json: element 1 of \"A\" is true, expected"));
  CHECK(refusal(R"({"s": null})").starts_with("g.json: \"s\" is null, expected"));
  CHECK(refusal(R"({"s": {"A": 1}})").starts_with("g.json: \"s\" is an object, expected"));
  CHECK(refusal(R"({"A": []})") == "g.json: \"A\" is an empty list, give at least one number");
  CHECK(refusal(R"({"A": [[]]})") == "g.json: row 0 of \"A\" is empty");
  CHECK(refusal(R"({"A": [1, [2]]})") == "g.json: \"A\" mixes numbers and lists");
  CHECK(refusal(R"({"A": [[1], 2]})") == "g.json: \"A\" mixes numbers and lists");
  CHECK(refusal(R"({"A": [[[1]]]})") ==
        "g.json: element 0 of row 0 of \"A\" is nested too deep, a table is a list of lists of "
        "numbers");
  CHECK(refusal("{\"s\": 1} x").starts_with("g.json, line 1, column 10: syntax error"));
}

TEST_CASE("json_input: long and deep nonsense is refused in one short line") {
  std::string list = "{\"A\": [0";
  for (std::size_t i = 0; i < kMaxInputSize; ++i) list += ",0";
  CHECK(refusal(list + "]}") == "g.json: \"A\" has more than 256 numbers in a list");
  CHECK(refusal("{\"A\": \"" + std::string(300, 'A') + "\"}") ==
        "g.json: \"A\" has more than 256 letters");
  const std::string open(1'000'000, '['), brace(1'000'000, '{'), word(1'000'000, 'k');
  const std::vector<std::string> texts = {
      open,
      brace,
      R"({"A": )" + open,
      R"({")" + word + R"(": 1})",
      R"({"A": ")" + word,
      "{\"a\nb\": 1}",
      R"({"\u000a": 1})",
      "{\"A\": \"\xff\"}",
      std::string("{\"A\0", 4),
  };
  for (const std::string& text : texts) {
    const std::string line = refusal(text);
    CHECK(line.size() > 10);
    CHECK(line.size() < 300);
    CHECK(line.find('\n') == std::string::npos);
  }
}

TEST_CASE("json_input: a file that cannot be read is a wrong call") {
  const std::string folder = std::filesystem::temp_directory_path();
  CHECK_THROWS_AS(read_json_input(folder + "/renar-no-such-file.json", kGraph), UsageError);
  CHECK_THROWS_AS(read_json_input(folder, kGraph), UsageError);
  CHECK_THROWS_AS(read_json_input("/dev/zero", kGraph), UsageError);
}

TEST_CASE("json_input: damaged inputs of every algorithm are run or refused") {
  for (const Algorithm& algorithm : algorithms()) {
    CAPTURE(algorithm.name);
    const std::string whole = example(algorithm);
    CAPTURE(whole);
    CHECK_NOTHROW(algorithm.run(parse(whole, algorithm.inputs)));
    Mutator mutate(1);
    int accepted = 0;
    for (int i = 0; i < 1000; ++i) {
      const std::string text = mutate(whole);
      CAPTURE(text);
      try {
        const Trace trace = algorithm.run(parse(text, algorithm.inputs));
        ++accepted;
        if (accepted <= 20) CHECK_FALSE(trace_table(trace).empty());
      } catch (const Error&) {
      }
    }
    CHECK(accepted > 0);
    CHECK(accepted < 900);
  }
}

}  // namespace
}  // namespace renar::json_input_test
