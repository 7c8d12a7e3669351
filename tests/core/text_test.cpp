// Lists and nearest matches in messages.
#include "core/text.h"

#include <doctest/doctest.h>

#include <vector>

namespace renar::text_test {

TEST_CASE("text: edit distance by hand") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "dfs") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("dsf", "dfs") == 1);  // a swap of neighbours
  CHECK(edit_distance("bfs", "dfs") == 1);
}

TEST_CASE("text: nearest match and join") {
  const std::vector<std::string> words = {"bfs", "dfs", "dijkstra"};
  CHECK(nearest_match("djikstra", words) == "dijkstra");
  CHECK(nearest_match("dsf", words) == "dfs");
  CHECK(nearest_match("xfs", words) == "bfs");  // the first of equals
  CHECK(nearest_match("dfs", std::vector<std::string>()) == "");
  CHECK(join(words) == "bfs, dfs, dijkstra");
  CHECK(join(std::vector<std::string>()) == "");
  CHECK(join(std::vector<std::string>{"a", "a"}, "/") == "a/a");
}

TEST_CASE("text: of a long text the beginning counts, and is shown") {
  const std::string long_word(1'000'000, 'a');
  CHECK(shortened(long_word) == std::string(60, 'a') + "..");
  CHECK(shortened(std::string(60, 'b')) == std::string(60, 'b'));
  CHECK(shortened("") == "");
  const std::vector<std::string> words{"bfs", std::string(50, 'a')};
  CHECK(nearest_match(long_word, words) == words[1]);
}

TEST_CASE("text: one line, whatever was in it") {
  CHECK(one_line("a\nb\tc\x1b[31m\x7f \xc3\xa4") == "a?b?c?[31m? \xc3\xa4");
  CHECK(one_line("").empty());
}

TEST_CASE("text: a shell reads a quoted word as it was") {
  CHECK(shell_quoted("runs/dfs-baseline-42") == "runs/dfs-baseline-42");
  CHECK(shell_quoted("my runs/stop me") == "'my runs/stop me'");
  CHECK(shell_quoted("$HOME") == "'$HOME'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  CHECK(shell_quoted("") == "''");
}

TEST_CASE("text: the hash of known texts") {  // from the authors' page of FNV test vectors
  CHECK(fnv1a("") == 0xcbf29ce484222325u);
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8cu);
  CHECK(fnv1a("foobar") == 0x85944171f73967e8u);
}

namespace {

template <class T>
struct Wrapped {};
struct Inner {};

}  // namespace

TEST_CASE("text: a type is called by its own name") {
  CHECK(std::string(name_of_type<Inner>()) == "Inner");
  CHECK(std::string(name_of_type<Wrapped<Inner>>()) == "Wrapped<Inner>");
}

}  // namespace renar::text_test
