// curves.svg: what is read, that every curve is on the paper, and that odd data does no harm.
#include "trainer/curves.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <string>

#include "tests/core/scratch.h"

namespace renar::curves_test {
namespace {

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

// Every point of every curve, as drawn.
void check_on_the_paper(const std::string& svg) {
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  const std::regex points("points=\"([^\"]*)\""), point("(-?[0-9.]+),(-?[0-9.]+) ");
  for (std::sregex_iterator curve(svg.begin(), svg.end(), points), end; curve != end; ++curve) {
    const std::string list = (*curve)[1];
    for (std::sregex_iterator p(list.begin(), list.end(), point); p != end; ++p) {
      const double x = std::stod((*p)[1]), y = std::stod((*p)[2]);
      REQUIRE((x >= 76 && x <= 725));
      REQUIRE(((y >= 64 && y <= 344) || (y >= 388 && y <= 580)));
    }
  }
}

Curves learning_run(int steps) {
  Curves curves;
  curves.title = "dfs & friends <1>";
  curves.val_length = 16;
  const int lengths[] = {4, 7, 11, 13, 16};
  for (int step = 0; step < steps; ++step) {
    const int nodes = lengths[step % 5];
    const double noise = 1 + 0.3 * std::sin(12.9898 * step) * std::sin(78.233 * step * step);
    curves.losses.push_back({step, nodes, nodes * std::exp(-3.0 * step / steps) * noise});
    if (step % 50 == 49) curves.validation.push_back({step, 1 - std::exp(-5.0 * step / steps)});
  }
  return curves;
}

TEST_CASE("curves: a light and a bold curve a training length, scores, tests, legend") {
  Curves curves = learning_run(1000);
  curves.tests = {{64, 0.213}, {128, 0.1}};
  const std::string svg = curves_svg(curves);
  check_on_the_paper(svg);
  CHECK(count(svg, "<polyline") == 2 * 5 + 1);
  for (const char* words : {">n = 4<", ">n = 16<", ">validation, n = 16<", ">test, n = 64: 0.213<",
                            ">test, n = 128: 0.100<", ">training loss<", ">score<", ">step<",
                            ">dfs &amp; friends &lt;1&gt;<", ">1000<", ">0.2<"}) {
    INFO(words);
    CHECK(count(svg, words) >= 1);
  }
}

TEST_CASE("curves: a long run makes no long file") {
  CHECK(curves_svg(learning_run(100000)).size() < 200000);
}

TEST_CASE("curves: nothing yet, one step, NaN and zero") {
  Curves curves;
  check_on_the_paper(curves_svg(curves));
  CHECK(count(curves_svg(curves), "no steps yet") == 1);
  curves.losses = {{0, 16, 2.0}};
  curves.validation = {{0, 0.5}};
  check_on_the_paper(curves_svg(curves));
  CHECK(count(curves_svg(curves), "<circle") == 2);
  curves.losses = {{0, 16, 2.0},
                   {1, 16, 0.0},
                   {2, 16, std::numeric_limits<double>::quiet_NaN()},
                   {3, 16, 1.7e308}};
  curves.validation = {{0, std::numeric_limits<double>::infinity()}};
  check_on_the_paper(curves_svg(curves));
}

TEST_CASE("curves: read from the lines of metrics.jsonl, written as a whole") {
  const std::string stem =
      (std::filesystem::temp_directory_path() / ("renar_curves_test_" + std::to_string(::getpid())))
          .string();
  std::ofstream(stem + ".jsonl")
      << "{\"step\": 0, \"algo\": \"dfs\", \"nodes\": 4, \"loss\": 2.5, \"seconds\": 1}\n"
      << "{\"step\": 1, \"nodes\": 7, \"loss\": null}\n"
      << "{\"step\": 1, \"val_score\": 0.25}\n";
  const Curves curves = read_curves(stem + ".jsonl");
  REQUIRE(curves.losses.size() == 2);
  CHECK(curves.losses[0].nodes == 4);
  CHECK(curves.losses[0].loss == 2.5);
  CHECK(std::isnan(curves.losses[1].loss));
  REQUIRE(curves.validation.size() == 1);
  CHECK(curves.validation[0].step == 1);
  CHECK(curves.validation[0].score == 0.25);
  write_curves(stem + ".svg", curves);
  CHECK(std::filesystem::file_size(stem + ".svg") == curves_svg(curves).size());
  std::filesystem::remove(stem + ".jsonl");
  std::filesystem::remove(stem + ".svg");
}

TEST_CASE("curves: several algorithms are drawn as their mean") {
  const Scratch scratch;
  const std::string path = scratch.path("metrics.jsonl");
  std::ofstream(path) << "{\"step\": 0, \"algo\": \"dfs\", \"nodes\": 4, \"loss\": 2}\n"
                      << "{\"step\": 0, \"algo\": \"bfs\", \"nodes\": 5, \"loss\": 5}\n"
                      << "{\"step\": 0, \"algo\": \"dfs\", \"val_score\": 0.25}\n"
                      << "{\"step\": 0, \"algo\": \"mean\", \"val_score\": 0.5}\n";
  const Curves curves = read_curves(path);
  REQUIRE(curves.losses.size() == 1);
  CHECK(curves.losses[0].nodes == 0);
  CHECK(curves.losses[0].loss == 3.5);
  REQUIRE(curves.validation.size() == 1);
  CHECK(curves.validation[0].score == 0.5);
  CHECK(curves_svg(curves).find("mean of all") != std::string::npos);
}

}  // namespace
}  // namespace renar::curves_test
