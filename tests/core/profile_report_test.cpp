// The tables and the trace of a profile, from tracks made by hand.
#include "core/profile_report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "core/json.h"

namespace renar::profile_report_test {
namespace {

using enum ProfilePhase;
using Kind = ProfileMark::Kind;

// step 0..10 ms { model { 1: linear 4 ms, relu 1 ms, 1 ms nothing }, back to model: linear 2 ms }
struct Sample {
  ProfileScope step{"step", nullptr, {}, {}};
  ProfileScope model{"model", &step, {}, {}};
  std::vector<ProfileTrack> tracks;

  explicit Sample(bool queues = false) {
    ProfileTrack track{"main", 0, queues, {}};
    std::int64_t launches = 0;
    const auto mark = [&](Kind kind, ProfilePhase phase, const ProfileScope* scope, const char* op,
                          double ms, std::int64_t launched = 0) {
      launches += launched;
      const double host = 100 + ms / 1e3, queue = queues ? 100 + 2 * ms / 1e3 : host;
      track.marks.push_back({kind, phase, scope, op, host, queue, {.launches = launches}});
    };
    mark(Kind::kEnter, kForward, &step, nullptr, 0);
    mark(Kind::kEnter, kForward, &model, nullptr, 1);
    mark(Kind::kOp, kForward, nullptr, "linear", 5, 3);
    mark(Kind::kOp, kForward, nullptr, "relu", 6, 1);
    mark(Kind::kLeave, kForward, nullptr, nullptr, 7);
    mark(Kind::kEnter, kBackward, &model, nullptr, 7);
    mark(Kind::kOp, kBackward, nullptr, "linear", 9, 6);
    mark(Kind::kLeave, kBackward, nullptr, nullptr, 9);
    mark(Kind::kLeave, kForward, nullptr, nullptr, 10);
    tracks = {track};
  }
};

using Words = std::vector<std::string>;

/// The words of the first line that begins with the words `start`.
Words words(const std::string& text, const Words& start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    const Words all{std::istream_iterator<std::string>(in), {}};
    const auto [differs, end] = std::mismatch(start.begin(), start.end(), all.begin(), all.end());
    if (differs == start.end()) return all;
  }
  return {};
}

TEST_CASE("profile_report: tables by op and by range") {
  const Sample sample;
  const std::string text = profile_text(sample.tracks);
  CAPTURE(text);
  CHECK(words(text, {"op"}) == Words{"op", "phase", "calls", "ms", "share", "launches"});
  CHECK(words(text, {"linear", "forward"}) ==
        Words{"linear", "forward", "1", "4.00", "40.00%", "3"});
  CHECK(words(text, {"linear", "backward"}) ==
        Words{"linear", "backward", "1", "2.00", "20.00%", "6"});
  CHECK(words(text, {"(no", "op)", "forward"}) ==
        Words{"(no", "op)", "forward", "2", "3.00", "30.00%", "0"});
  CHECK(words(text, {"total"}) == Words{"total", "6", "10.00", "100.00%", "10"});
  // with all that is in it; then forward and backward
  CHECK(words(text, {"step"}) == Words{"step", "1", "10.00", "100.00%", "10", "8.00", "2.00"});
  CHECK(words(text, {"model"}) == Words{"model", "1", "8.00", "80.00%", "10", "6.00", "2.00"});
  CHECK(text.find("\n  model ") != std::string::npos);
  CHECK(words(text.substr(text.find("  range\n")), {"relu"}) ==
        Words{"relu", "forward", "1", "1.00", "10.00%", "1", "step/model"});
  CHECK(text.find("linear") < text.find("(no op)"));  // the longest first
  CHECK(text.find("host ms") == std::string::npos);
}

TEST_CASE("profile_report: a GPU's times are its queue's, with the host's beside them") {
  const Sample sample(true);
  const std::string text = profile_text(sample.tracks);
  CAPTURE(text);
  CHECK(words(text, {"linear", "forward"}) ==
        Words{"linear", "forward", "1", "8.00", "40.00%", "3", "4.00"});
  CHECK(words(text, {"total"}) == Words{"total", "6", "20.00", "100.00%", "10", "10.00"});
}

TEST_CASE("profile_report: threads are added up, whatever their scopes") {
  const Sample a, b;
  const std::vector<ProfileTrack> both = {a.tracks[0], b.tracks[0]};
  const std::vector<ProfileCell> one = profile_cells(a.tracks), two = profile_cells(both);
  REQUIRE(one.size() == two.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(two[i].range == one[i].range);
    CHECK(two[i].calls == 2 * one[i].calls);
    CHECK(two[i].seconds == doctest::Approx(2 * one[i].seconds));
  }
}

TEST_CASE("profile_report: the trace is JSON whose bars nest, named and on named threads") {
  const Sample sample(true);
  const auto json = parse_json(profile_trace(sample.tracks, 100, 101));
  std::map<int, std::string> threads;
  std::map<int, std::vector<Json>> bars;
  for (const auto& event : json["traceEvents"]) {
    if (event["name"] == "thread_name") threads[event["tid"]] = event["args"]["name"];
    if (event["ph"] == "X") bars[event["tid"]].push_back(event);
  }
  CHECK(threads == std::map<int, std::string>{{0, "main"}, {1000, "GPU"}});
  REQUIRE(bars[0].size() == 6);
  REQUIRE(bars[1000].size() == 6);
  const auto& linear = bars[0][2];
  CHECK(linear["name"] == "linear");
  CHECK(linear["cat"] == "op");
  CHECK(linear["ts"] == 1000.0);
  CHECK(linear["dur"] == 4000.0);
  CHECK(linear["args"]["launches"] == 3);
  CHECK(bars[1000][2]["ts"] == 2000.0);
  CHECK(bars[1000][2]["dur"] == 8000.0);
  CHECK(bars[0][0]["name"] == "step");
  CHECK(bars[0][0]["cat"] == "range");
  CHECK(bars[0][0]["args"]["launches"] == 10);
  CHECK(bars[0][1]["name"] == "model");
  CHECK(bars[0][4]["name"] == "model (backward)");
  CHECK(bars[0][5]["name"] == "linear (backward)");
}

TEST_CASE("profile_report: an op's name is without namespaces") {
  Sample sample;
  for (const char* name : {"f<renar::{anonymous}::Relu, a::b::C<int> >",
                           "renar::f<renar::<unnamed>::Relu, C<a::int> >"}) {
    sample.tracks[0].marks[2].op = name;
    CHECK(profile_cells(sample.tracks)[2].op == "f<Relu, C<int> >");
    CHECK(profile_trace(sample.tracks, 0, 1e9).find("\"f<Relu, C<int> >\"") != std::string::npos);
  }
}

TEST_CASE("profile_report: what was started late belongs where it was asked for") {
  Sample sample;
  auto& marks = sample.tracks[0].marks;
  // 9.5 ms: the step, after the model; 9.5 to 10 ms: for the model, backward
  const ProfileMark& last = marks.back();
  ProfileMark cut = last, late = last;
  cut.kind = Kind::kCut;
  cut.host = cut.queue = 100.0095;
  late.kind = Kind::kOp;
  late.phase = kBackward;
  late.scope = &sample.model;
  late.op = "collected";
  late.work.launches = ++marks.back().work.launches;
  marks.insert(marks.end() - 1, {cut, late});
  const std::string text = profile_text(sample.tracks);
  CAPTURE(text);
  CHECK(words(text, {"collected"}) == Words{"collected", "backward", "1", "0.50", "5.00%", "1"});
  CHECK(words(text, {"(no", "op)", "forward"})[4] == "2.50");
  CHECK(words(text, {"model"}) == Words{"model", "1", "8.50", "85.00%", "11", "6.00", "2.50"});
  CHECK(words(text, {"step"}) == Words{"step", "1", "10.00", "100.00%", "11", "7.50", "2.50"});
}

TEST_CASE("profile_report: long names stay apart from what follows") {
  Sample sample;
  const std::string name(40, 'x');
  sample.tracks[0].marks[2].op = name.c_str();
  CHECK(words(profile_text(sample.tracks), {name, "forward"}).size() == 6);
}

TEST_CASE("profile_report: a trace has what began in its time, and no open ranges") {
  Sample sample;
  const auto names = [&](double from, double to) {
    std::vector<std::string> found;
    const auto json = parse_json(profile_trace(sample.tracks, from, to));
    for (const auto& event : json["traceEvents"]) {
      if (event["ph"] == "X") found.push_back(event["name"]);
    }
    return found;
  };
  CHECK(names(100.0035, 100.0065) == Words{"relu"});
  CHECK(names(200, 201).empty());
  sample.tracks[0].marks.pop_back();  // of the step
  const Words rest = names(99, 101);
  CHECK(rest == Words{"model", "linear", "relu", "model (backward)", "linear (backward)"});
  CHECK(parse_json(profile_trace({}, 0, 1)).contains("traceEvents"));
}

}  // namespace
}  // namespace renar::profile_report_test
