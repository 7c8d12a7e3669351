// Probes, traces and batches: what is recorded is checked, and kept in its shape.
#include "algos/trace.h"

#include <doctest/doctest.h>

#include <climits>
#include <cmath>
#include <type_traits>
#include <vector>

#include "algos/trace_batch.h"
#include "core/check.h"

namespace renar::trace_test {
namespace {

const Spec& toy_spec() {
  static const Spec spec = {
      {"pos", Stage::kInput, Location::kNode, Type::kScalar},
      {"A", Stage::kInput, Location::kEdge, Type::kScalar},
      {"pi", Stage::kOutput, Location::kNode, Type::kPointer},
      {"mark", Stage::kHint, Location::kNode, Type::kMask},
      {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
      {"phase", Stage::kHint, Location::kGraph, Type::kCategorical, 3},
      {"time", Stage::kHint, Location::kGraph, Type::kScalar},
  };
  return spec;
}

/// A complete trace of two nodes with this many frames; `time` is first, first + 1, ..
Trace toy(int frames, double first) {
  Trace trace(toy_spec(), 2);
  trace.input({{"pos", positions(2)}, {"A", Matrix(2, 2)}});
  for (int t = 0; t < frames; ++t) {
    trace.hint({{"mark", std::vector<int>{0, 1}},
                {"i", one_hot(t % 2, 2)},
                {"phase", one_hot(t % 3, 3)},
                {"time", first + t}});
  }
  trace.output({{"pi", self_pointers(2)}});
  return trace;
}

void push(const ProbeValue& mark, const ProbeValue& i, const ProbeValue& phase, double time) {
  Trace(toy_spec(), 2).hint({{"mark", mark}, {"i", i}, {"phase", phase}, {"time", time}});
}

using Values = std::vector<double>;

TEST_CASE("spec: shapes follow location and type") {
  const auto shape = [](Location location, Type type, int classes = 0) {
    return shape_of({"x", Stage::kHint, location, type, classes}, 5);
  };
  using Shape = std::vector<std::size_t>;
  CHECK(shape(Location::kNode, Type::kPointer) == Shape{5});
  CHECK(shape(Location::kNode, Type::kCategorical, 3) == Shape{5, 3});
  CHECK(shape(Location::kEdge, Type::kMask) == Shape{5, 5});
  CHECK(shape(Location::kEdge, Type::kCategorical, 3) == Shape{5, 5, 3});
  CHECK(shape(Location::kGraph, Type::kScalar).empty());
  CHECK(shape(Location::kGraph, Type::kCategorical, 3) == Shape{3});
  CHECK(count_of({"x", Stage::kHint, Location::kGraph, Type::kScalar}, 5) == 1);
}

TEST_CASE("spec: probes are found by name and refused if they contradict themselves") {
  CHECK(toy_spec().index_of("pi") == 2);
  CHECK(toy_spec().contains("time"));
  CHECK_FALSE(toy_spec().contains("pos "));
  CHECK_THROWS_WITH_AS(toy_spec().index_of("p"),
                       "[spec] there is no probe 'p' among pos, A, pi, mark, i, phase, time",
                       Error);
  const Probe scalar{"x", Stage::kInput, Location::kNode, Type::kScalar};
  CHECK_THROWS_AS(Spec({scalar, scalar}), Error);
  CHECK_THROWS_AS(Spec({{"x", Stage::kInput, Location::kNode, Type::kScalar, 2}}), Error);
  CHECK_THROWS_AS(Spec({{"x", Stage::kInput, Location::kNode, Type::kCategorical}}), Error);
  CHECK_THROWS_AS(Spec({{"x", Stage::kInput, Location::kGraph, Type::kMaskOne}}), Error);
}

TEST_CASE("trace: frames follow one another") {
  const Trace trace = toy(3, 7);
  CHECK(trace.frames() == 3);
  CHECK(trace.complete());
  CHECK(trace["time"] == Values{7, 8, 9});
  CHECK(trace["i"] == Values{1, 0, 0, 1, 1, 0});
  CHECK(trace["pos"] == Values{0, 0.5});
  CHECK_FALSE(Trace(toy_spec(), 2).complete());
}

TEST_CASE("trace: every kind of wrong value is refused") {
  const Values ok = {0, 1}, phase = {0, 0, 1};
  CHECK_NOTHROW(push(ok, ok, phase, 0));
  CHECK_NOTHROW(push(Values{-1, -1}, Values{0, -1}, phase, 0));  // masked out
  CHECK_THROWS_AS(push(Values{0, 1, 0}, ok, phase, 0), Error);   // size
  CHECK_THROWS_AS(push(Values{0, 2}, ok, phase, 0), Error);      // not a mask
  CHECK_THROWS_AS(push(Values{0, NAN}, ok, phase, 0), Error);
  CHECK_THROWS_AS(push(ok, Values{0, 0}, phase, 0), Error);  // nothing marked
  CHECK_THROWS_AS(push(ok, Values{1, 1}, phase, 0), Error);  // two marked
  CHECK_THROWS_AS(push(ok, Values{1, -1}, phase, 0), Error);
  CHECK_THROWS_AS(push(ok, Values{0, 2}, phase, 0), Error);  // one marked, with a 2
  CHECK_THROWS_AS(push(ok, Values{NAN, 0}, phase, 0), Error);
  CHECK_THROWS_AS(push(ok, ok, Values{1, 1, 0}, 0), Error);
  CHECK_THROWS_AS(push(ok, ok, phase, INFINITY), Error);
  const auto point = [](const Values& pi) { Trace(toy_spec(), 2).output({{"pi", pi}}); };
  CHECK_NOTHROW(point({1, 0}));
  CHECK_THROWS_AS(point({2, 0}), Error);
  CHECK_THROWS_AS(point({-1, 0}), Error);
  CHECK_THROWS_AS(point({0.5, 0}), Error);
}

TEST_CASE("trace: what does not change, comes back or is one-hot is given back frame by frame") {
  const Spec spec = {{"x", Stage::kInput, Location::kNode, Type::kScalar},
                     {"y", Stage::kOutput, Location::kNode, Type::kScalar},
                     {"pi", Stage::kHint, Location::kNode, Type::kPointer},
                     {"d", Stage::kHint, Location::kNode, Type::kScalar},
                     {"e", Stage::kHint, Location::kEdge, Type::kMask},
                     {"i", Stage::kHint, Location::kNode, Type::kMaskOne},
                     {"c", Stage::kHint, Location::kGraph, Type::kCategorical, 3}};
  Trace trace(spec, 2);
  trace.input({{"x", Values{1, 2}}});
  std::vector<int> pi = {0, 0};
  Values d = {0.5, 0};
  Matrix e(2, 2);
  const auto record = [&](const ProbeValue& i, const ProbeValue& c) {
    trace.hint({{"pi", pi}, {"d", d}, {"e", e}, {"i", i}, {"c", c}});
  };
  record(one_hot(0, 2), one_hot(2, 3));
  record(Values{0, -1}, Values{0, 1, 0});  // given in full, masked out
  pi[1] = 1;
  d[1] = -0.0;  // equal to 0, but not to the bit
  record(std::vector<int>{1, 0}, std::vector<int>{1, 0, 0});
  e(1, 0) = 1;
  record(one_hot(1, 2), Values{0, 0, -1});
  pi[1] = 0;
  record(one_hot(1, 2), one_hot(0, 3));
  trace.output({{"y", one_hot(1, 2)}});  // a one-hot where any numbers may stand

  CHECK(trace["pi"] == Values{0, 0, 0, 0, 0, 1, 0, 1, 0, 0});
  CHECK(trace["d"] == Values{0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0});
  CHECK_FALSE(std::signbit(trace["d"][3]));
  CHECK(std::signbit(trace["d"][5]));
  CHECK(trace["e"] == Values{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0});
  CHECK(trace["i"] == Values{1, 0, 0, -1, 1, 0, 0, 1, 0, 1});
  CHECK(trace["c"] == Values{0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, -1, 1, 0, 0});
  CHECK(trace["y"] == Values{0, 1});
  Values frame = {7};
  trace.append_frame(spec.index_of("i"), 1, frame);
  CHECK(frame == Values{7, 0, -1});

  CHECK_THROWS_AS(record(one_hot(0, 3), one_hot(0, 3)), Error);  // of three nodes
  CHECK_THROWS_AS(Trace(spec, 2).output({{"y", one_hot(1, 3)}}), Error);
}

TEST_CASE("trace: small numbers are kept, checked and given back as doubles are") {
  const Spec spec = {{"m", Stage::kHint, Location::kEdge, Type::kMask},
                     {"pi", Stage::kHint, Location::kEdge, Type::kPointer},
                     {"c", Stage::kHint, Location::kNode, Type::kCategorical, 3},
                     {"x", Stage::kHint, Location::kNode, Type::kScalar}};
  Trace trace(spec, 2);
  MaskMatrix m(2, 2);
  IntMatrix pi(2, 2);
  std::vector<int> c = {2, 0};
  const auto record = [&] {
    trace.hint({{"m", m}, {"pi", pi}, {"c", one_hot_rows(c, 3)}, {"x", std::vector<int>{7, 8}}});
  };
  record();
  m(1, 0) = -1;
  pi(0, 1) = 1;
  c[1] = ~2;  // masked out
  record();
  trace.hint({{"m", Matrix(2, 2)},
              {"pi", Values{0, 1, 0, 0}},
              {"c", Values{0, 0, 1, 0, 0, -1}},
              {"x", Mask{1, 0}}});
  CHECK(trace["m"] == Values{0, 0, 0, 0, /**/ 0, 0, -1, 0, /**/ 0, 0, 0, 0});
  CHECK(trace["pi"] == Values{0, 0, 0, 0, /**/ 0, 1, 0, 0, /**/ 0, 1, 0, 0});
  CHECK(trace["c"] == Values{0, 0, 1, 1, 0, 0, /**/ 0, 0, 1, 0, 0, -1, /**/ 0, 0, 1, 0, 0, -1});
  CHECK(trace["x"] == Values{7, 8, /**/ 7, 8, /**/ 1, 0});

  const auto refused = [&](auto& number, int wrong) {
    const auto before = number;
    number = static_cast<std::remove_reference_t<decltype(number)>>(wrong);
    CHECK_THROWS_AS(record(), Error);
    number = before;
    trace = Trace(spec, 2);
    CHECK_NOTHROW(record());
  };
  for (const int wrong : {2, -2, 127, -128}) refused(m(0, 1), wrong);
  for (const int wrong : {2, -1, INT_MAX, INT_MIN}) refused(pi(1, 1), wrong);
  for (const int wrong : {3, ~3, INT_MAX, INT_MIN}) refused(c[0], wrong);
  c.push_back(0);
  CHECK_THROWS_AS(record(), Error);
}

TEST_CASE("trace: each probe of a stage is given once, each stage in its number") {
  Trace trace(toy_spec(), 2);
  CHECK_THROWS_WITH_AS(trace.input({{"pos", positions(2)}}), "[trace] the input 'A' is missing",
                       Error);
  const auto pi = self_pointers(2);
  CHECK_THROWS_AS(Trace(toy_spec(), 2).output({{"pi", pi}, {"pi", pi}}), Error);
  CHECK_THROWS_AS(Trace(toy_spec(), 2).output({{"pi", pi}, {"time", 0.0}}), Error);
  CHECK_THROWS_AS(toy(1, 0).output({{"pi", pi}}), Error);
  CHECK_THROWS_AS(Trace(toy_spec(), 0), Error);
}

TEST_CASE("trace: the probes that all algorithms share") {
  Matrix a(2, 2);
  a(0, 1) = -0.5;
  a(1, 1) = -1;  // A + I is 0 here: the benchmark's definition
  CHECK(adjacency(a).values() == Mask{1, 1, 0, 0});
  CHECK(positions(4) == Values{0, 0.25, 0.5, 0.75});
  CHECK(Values(one_hot_rows({2, 0}, 3)) == Values{0, 0, 1, 1, 0, 0});
  CHECK_THROWS_AS(one_hot(2, 2), Error);
  CHECK_THROWS_AS(one_hot(-1, 2), Error);
  CHECK_THROWS_AS(Values(one_hot_rows({3}, 3)), Error);
}

TEST_CASE("trace_batch: hints are padded to the longest, (T,B,...)") {
  const std::vector<Trace> traces = {toy(1, 10), toy(3, 20)};
  const TraceBatch batch = batch_of(traces);
  CHECK(batch.lengths == std::vector<int>{1, 3});
  CHECK(batch.frames == 3);
  CHECK(batch["time"] == Values{10, 20, 0, 21, 0, 22});
  CHECK(batch["i"] == Values{1, 0, 1, 0, /**/ 0, 0, 0, 1, /**/ 0, 0, 1, 0});
  CHECK(batch["pi"] == Values{0, 1, 0, 1});
  CHECK(batch.shape(1) == std::vector<std::size_t>{2, 2, 2});
  CHECK(batch.shape(5) == std::vector<std::size_t>{3, 2, 3});
  CHECK(batch.shape(6) == std::vector<std::size_t>{3, 2});

  CHECK_THROWS_AS(batch_of(std::vector<Trace>()), Error);
  CHECK_THROWS_AS(batch_of(std::vector<Trace>{Trace(toy_spec(), 2)}), Error);
}

TEST_CASE("trace_batch: gathered samples are padded to their own longest") {
  const TraceBatch batch = batch_of(std::vector<Trace>{toy(1, 10), toy(3, 20), toy(2, 30)});
  const TraceBatch chosen = gather(batch, std::vector<int>{2, 0, 2});
  CHECK(chosen.lengths == std::vector<int>{2, 1, 2});
  CHECK(chosen.frames == 2);
  CHECK(chosen["time"] == Values{30, 10, 30, 31, 0, 31});
  CHECK_THROWS_AS(gather(batch, std::vector<int>{3}), Error);
  CHECK_THROWS_AS(gather(batch, std::vector<int>{-1}), Error);
  CHECK_THROWS_AS(gather(batch, std::vector<int>()), Error);
}

TEST_CASE("trace_batch: arrays there and back, and arrays that do not fit") {
  const TraceBatch batch = batch_of(std::vector<Trace>{toy(1, 10), toy(3, 20)});
  const Npz arrays = arrays_of(batch, "b/");
  CHECK(arrays.size() == 8);
  const TraceBatch again = batch_from(toy_spec(), arrays, "b/");
  CHECK(again.values == batch.values);
  CHECK(again.lengths == batch.lengths);

  const auto broken = [&](const std::string& key, const StoredArray& array) {
    Npz copy = arrays;
    copy["b/" + key] = array;
    return batch_from(toy_spec(), copy, "b/");
  };
  CHECK_THROWS_AS(batch_from(toy_spec(), arrays), Error);  // no such names
  CHECK_THROWS_AS(broken("lengths", StoredArray::of<double>({2}, {0, 3})), Error);
  CHECK_THROWS_AS(broken("lengths", StoredArray::of<double>({2}, {1, 4})), Error);
  CHECK_THROWS_AS(broken("lengths", StoredArray::of<double>({2}, {1.5, 3})), Error);
  CHECK_THROWS_AS(broken("output/pi", StoredArray::of<double>({2, 2}, {0, 1, 0, 2})), Error);
  CHECK_THROWS_AS(broken("output/pi", StoredArray::of<double>({4}, {0, 1, 0, 1})), Error);
  CHECK_THROWS_AS(broken("output/pi", StoredArray::of<double>({2, 3}, {0, 1, 0, 1, 0, 1})), Error);
  CHECK_THROWS_AS(broken("input/pos", StoredArray::of<double>({}, {0})), Error);
}

}  // namespace
}  // namespace renar::trace_test
