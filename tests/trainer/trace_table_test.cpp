// The text of a run: two whole ones pinned, and the rules of the layout on made-up probes.
#include "trainer/trace_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algos/matrix.h"
#include "core/check.h"

namespace renar {
Trace dfs(const Matrix& a);              // algos/graphs/dfs.cpp
Trace bfs(const Matrix& a, int source);  // algos/graphs/bfs.cpp
}  // namespace renar

namespace renar::trace_table_test {
namespace {

using Values = std::vector<double>;

/// What follows the legend.
std::string body(const Trace& trace, int width = kTerminalWidth) {
  const std::string text = trace_table(trace, width);
  return text.substr(text.find("\ninput") + 1);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0, start = 0;
  for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    longest = std::max(longest, end - start);
  }
  return longest;
}

/// A trace of `nodes` whose only hint is given frame by frame.
Trace of_hint(const Spec& spec, int nodes, const std::vector<Values>& frames) {
  Trace trace(spec, nodes);
  trace.input({{"pos", positions(nodes)}});
  for (const Values& frame : frames) trace.hint({{"h", frame}});
  trace.output({{"pi", self_pointers(nodes)}});
  return trace;
}

Spec spec_of(Location location, Type type, int classes = 0) {
  return {{"pos", Stage::kInput, Location::kNode, Type::kScalar},
          {"pi", Stage::kOutput, Location::kNode, Type::kPointer},
          {"h", Stage::kHint, location, type, classes}};
}

TEST_CASE("trace_table: bfs on four nodes") {
  Matrix a(4, 4);
  a(0, 1) = a(1, 0) = a(0, 3) = a(3, 0) = 1;
  a(1, 2) = a(2, 1) = a(2, 2) = 1;
  CHECK(
      trace_table(bfs(a, 0)) ==
      R"(Columns are nodes. Below a node, a pointer shows the node it points to; a mask is a set of
nodes. After frame 0 only what changed is shown: * behind a value, + and - behind a set.
A[u] is row u of a table, its columns are v; a dot is 0 there. adj is A's edges and all self-loops.

input       s 0
               0     1     2     3
  pos          0  0.25   0.5  0.75
            0  1  2  3
  A[0]      .  1  .  1
  A[1]      1  .  1  .
  A[2]      .  1  1  .
  A[3]      1  .  .  .

frame 0
  reach_h   {0}
               0     1     2     3
  pi_h         0     1     2     3

frame 1
  reach_h   {0 1 3}  +1 +3
               0     1     2     3
  pi_h         0     0*    2     0*

frame 2
  reach_h   {0..3}  +2
               0     1     2     3
  pi_h         0     0     1*    0

output
               0     1     2     3
  pi           0     0     1     0
)");
}

TEST_CASE("trace_table: dfs on three nodes") {
  Matrix a(3, 3);
  a(0, 1) = a(1, 2) = a(2, 0) = 1;
  CHECK(body(dfs(a)) ==
        R"(input
                0      1      2
  pos           0  0.333  0.667
            0  1  2
  A[0]      .  1  .
  A[1]      .  .  1
  A[2]      1  .  .

frame 0     s 0  u 0  v 0  s_last 0  time 0
                0      1      2
  pi_h          0      1      2
  color     white  white  white
  d             0      0      0
  f             0      0      0
  s_prev        0      1      2

frame 1     s 0  u 0  v 0  s_last 0  time 0.01*
                0      1      2
  color      gray* white  white
  d          0.01*     0      0

frame 2     s 0  u 0  v 1*  s_last 1*  time 0.01
                0      1      2
  pi_h          0      0*     2
  color      gray   gray* white
  s_prev        0      0*     2

frame 3     s 0  u 1*  v 1  s_last 1  time 0.02*
                0      1      2
  d          0.01   0.02*     0

frame 4     s 0  u 1  v 2*  s_last 2*  time 0.02
                0      1      2
  pi_h          0      0      1*
  color      gray   gray   gray*
  s_prev        0      0      1*

frame 5     s 0  u 2*  v 2  s_last 2  time 0.03*
                0      1      2
  d          0.01   0.02   0.03*

frame 6     s 0  u 2  v 2  s_last 2  time 0.04*
                0      1      2
  color      gray   gray  black*
  f             0      0   0.04*

frame 7     s 0  u 1*  v 2  s_last 1*  time 0.05*
                0      1      2
  color      gray  black* black
  f             0   0.05*  0.04
  s_prev        0      0      2*

frame 8     s 0  u 0*  v 2  s_last 0*  time 0.06*
                0      1      2
  color     black* black  black
  f          0.06*  0.05   0.04
  s_prev        0      1*     2

output
                0      1      2
  pi            0      0      1
)");
}

TEST_CASE("trace_table: sets show who came and who left, in ranges") {
  const Spec spec = spec_of(Location::kNode, Type::kMask);
  const std::string text =
      body(of_hint(spec, 6, {{1, 1, 1, 0, 0, 1}, {1, 0, 1, 1, 1, -1}, {0, 0, 0, 0, 0, 0}}));
  CHECK(has(text, "frame 0\n  h         {0..2 5}\n"));
  CHECK(has(text, "frame 1\n  h         {0 2..4}  -1 +3 +4 -5\n"));
  CHECK(has(text, "frame 2\n  h         {}  -0 -2 -3 -4\n"));
}

TEST_CASE("trace_table: a frame without a change has its number only") {
  const Spec spec = spec_of(Location::kNode, Type::kScalar);
  CHECK(has(body(of_hint(spec, 2, {{0, 1}, {0, 1}, {0, 2}})),
            "frame 1\n\nframe 2\n              0    1\n  h           0    2*\n"));
}

TEST_CASE("trace_table: tables show the rows that changed, under columns of their own") {
  const Spec spec = spec_of(Location::kEdge, Type::kScalar);
  const std::string text = body(of_hint(spec, 2, {{0, 1.25, 0, 0}, {0, 1.25, 0, 12345.678}}));
  CHECK(has(text, "  h[0]            .     1.25\n  h[1]            .        .\n"));
  CHECK(has(text, "frame 1\n                  0        1\n  h[1]            .  12345.7*\n\n"));
  CHECK_FALSE(has(text.substr(text.find("frame 1")), "h[0]"));

  const Spec masks = spec_of(Location::kEdge, Type::kMask);
  const std::string sets = body(of_hint(masks, 2, {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 0}}));
  CHECK(has(sets, "frame 0\n  h         {}\n"));
  CHECK(has(sets, "frame 1\n  h[0]      {1}  +1\n"));
  CHECK(has(sets, "frame 2\n  h[0]      {}  -1\n"));
}

TEST_CASE("trace_table: facts, classes by number, numbers of every size") {
  const Spec categorical = spec_of(Location::kGraph, Type::kCategorical, 3);
  CHECK(has(body(of_hint(categorical, 2, {{0, 1, 0}, {0, 0, 1}})),
            "frame 0     h 1\n\nframe 1     h 2*\n"));
  const Spec scalar = spec_of(Location::kGraph, Type::kScalar);
  const auto shown = [&](double x) {
    const std::string text = body(of_hint(scalar, 1, {{x}}));
    const std::size_t at = text.find("h ") + 2;
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(shown(0.123456) == "0.123");
  CHECK(shown(-12.3456) == "-12.3");
  CHECK(shown(1234.56) == "1234.6");
  CHECK(shown(999999) == "999999");
  CHECK(shown(1e7) == "1e+07");
  CHECK(shown(-1e300) == "-1e+300");
  CHECK(shown(-0.0) == "0");
}

TEST_CASE("trace_table: an array in the course of a sort is shown as an order with its keys") {
  const Spec spec = {{"pos", Stage::kInput, Location::kNode, Type::kScalar},
                     {"key", Stage::kInput, Location::kNode, Type::kScalar},
                     {"pred", Stage::kOutput, Location::kNode, Type::kShouldBePermutation},
                     {"pred_h", Stage::kHint, Location::kNode, Type::kPointer}};
  Trace trace(spec, 3);
  trace.input({{"pos", positions(3)}, {"key", Values{7, 9, 8}}});
  trace.hint({{"pred_h", predecessors({0, 1, 2})}});
  trace.hint({{"pred_h", predecessors({0, 2, 1})}});
  trace.hint({{"pred_h", Values{0, 1, 1}}});  // no order: as it is
  trace.output({{"pred", predecessors({0, 2, 1})}});
  const std::string text = body(trace);
  CHECK(has(text, "  pred_h        0      1      2\n    key         7      9      8\n\n"));
  CHECK(has(text, "  pred_h        0      2*     1*\n    key         7      8*     9*\n\n"));
  CHECK(has(text, "  pred_h        0      1*     1*\n\n"));
  CHECK(has(text, "  pred          0      2      1\n    key         7      8      9\n"));
}

TEST_CASE("trace_table: wide rows are cut, and a piece without a change is left out") {
  const int n = 30;
  const Spec spec = spec_of(Location::kNode, Type::kPointer);
  Values first(n), second(n);
  second[20] = 29;
  const std::string text = body(of_hint(spec, n, {first, second}), 60);
  CHECK(longest_line(text) <= 60);
  const std::size_t at = text.find("frame 1");
  const std::string frame = text.substr(at, text.find("output") - at);
  CHECK(has(frame, "29*"));
  CHECK(std::count(frame.begin(), frame.end(), '\n') == 4);  // title, nodes, row, empty
  CHECK(longest_line(body(of_hint(spec, n, {first, second}))) <= 100);
  CHECK_FALSE(body(of_hint(spec, n, {first, second}), 1).empty());  // a column a line

  Values all(200);
  for (std::size_t i = 0; i < all.size(); i += 2) all[i] = 1;
  const Spec mask = spec_of(Location::kNode, Type::kMask);
  CHECK(longest_line(trace_table(of_hint(mask, 200, {all, Values(200)}))) <= 100);
}

TEST_CASE("trace_table: half a trace is refused") {
  const Spec spec = spec_of(Location::kNode, Type::kPointer);
  CHECK_THROWS_AS(trace_table(Trace(spec, 2)), Error);
}

}  // namespace
}  // namespace renar::trace_table_test
