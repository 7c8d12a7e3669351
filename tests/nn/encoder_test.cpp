// The encoder by hand: two nodes, one feature.
#include "nn/encoder.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::encoder_test {
namespace {

const Spec kSpec = {
    {"a", Stage::kInput, Location::kNode, Type::kScalar},
    {"A", Stage::kInput, Location::kEdge, Type::kScalar},
    {"M", Stage::kInput, Location::kEdge, Type::kMask},
    {"y", Stage::kOutput, Location::kNode, Type::kMask},
    {"m", Stage::kHint, Location::kNode, Type::kMask},
    {"c", Stage::kHint, Location::kNode, Type::kCategorical, 2},
    {"p", Stage::kHint, Location::kNode, Type::kPointer},
    {"g", Stage::kHint, Location::kGraph, Type::kScalar},
};

struct Subject {
  explicit Subject(std::int64_t hidden = 1, EncoderInit init = EncoderInit::kDefault)
      : encoder({parameters, 42}, "algo", kSpec, hidden, init) {}

  Parameters parameters;
  Encoder encoder;
};

/// One sample: probes in feature form.
ProbeTensors probes_of(Tape& tape, const std::vector<Real>& mask,
                       const std::vector<Real>& pointer) {
  ProbeTensors probes;
  const auto put = [&](const char* name, Shape shape, const std::vector<Real>& values) {
    probes[kSpec.index_of(name)] = test::constant(tape, shape, values);
  };
  put("a", {1, 2}, {1, 2});
  put("A", {1, 2, 2}, {0, 3, 4, 0});
  put("M", {1, 2, 2}, mask);
  put("m", {1, 2}, {0, 1});
  put("c", {1, 2, 2}, {0, 1, 1, 0});
  put("p", {1, 2, 2}, pointer);
  put("g", {1}, {4});
  return probes;
}

TEST_CASE("encoder: the sums of encodings by hand") {
  Subject subject;
  const auto set = [&](const std::string& probe, const std::vector<Real>& w, Real b) {
    test::set(subject.parameters, "algo/encode/" + probe + "/w", w);
    test::set(subject.parameters, "algo/encode/" + probe + "/b", {b});
  };
  set("a", {2}, 1);
  set("m", {3}, 10);
  set("c", {5, 7}, 100);
  set("A", {2}, 5);
  set("M", {100}, 0);
  set("p", {10}, 1);
  set("g", {3}, 2);
  test::PredictingTape tape(subject.parameters);
  const EncodedStep step =
      subject.encoder.encode(tape, subject.encoder.stack_encoders(tape),
                             probes_of(tape, {0, 0, 1, 0}, {0.5, 0.5, 1, 0}), 1, 2, false);
  Composer composer(tape, {});
  test::check_values(composer.dense(step.node), {2 + 1 + 10 + 107, 4 + 1 + 13 + 105});
  test::check_values(composer.dense(step.edge), {6 + 5, 6 + 11, 11 + 13 + 100, 1 + 5});
  test::check_values(composer.dense(step.graph), {14});
  test::check_values(composer.dense(step.graph_on_nodes), {14, 14});
  CHECK(!step.adj);
  CHECK_THROWS(subject.parameters.find("algo/encode/y/w"));  // outputs are not read
}

TEST_CASE("encoder: adjacency is self-loops, pointers above a half and masks, both ways") {
  Subject subject;
  const auto adjacency = [&](const std::vector<Real>& mask, const std::vector<Real>& pointer) {
    test::PredictingTape tape(subject.parameters);
    const EncodedStep step = subject.encoder.encode(tape, subject.encoder.stack_encoders(tape),
                                                    probes_of(tape, mask, pointer), 1, 2, true);
    return std::vector<Real>(step.adj.data, step.adj.data + 4);
  };
  const std::vector<Real> none = {1, 0, 0, 1}, both = {1, 1, 1, 1}, no_mask = {0, 0, 0, 0};
  CHECK(adjacency(no_mask, {1, 0, 0, 1}) == none);
  CHECK(adjacency(no_mask, {1, 0, 0.5, 0.5}) == none);
  CHECK(adjacency(no_mask, {0.7, 0.3, 0.3, 0.7}) == both);
  CHECK(adjacency(no_mask, {1, 0, 1, 0}) == both);
  CHECK(adjacency({0, 0, 1, 0}, {1, 0, 0, 1}) == both);
}

TEST_CASE("encoder: pointers of edges, graphs and permutations by hand") {
  static const Spec spec = {{"e", Stage::kHint, Location::kEdge, Type::kPointer},
                            {"g", Stage::kHint, Location::kGraph, Type::kPointer},
                            {"p", Stage::kInput, Location::kNode, Type::kPermutationPointer}};
  Parameters parameters;
  const Encoder encoder({parameters, 42}, "algo", spec, 1, EncoderInit::kXavierOnScalars);
  const auto set = [&](const std::string& layer, Real w, Real b) {
    test::set(parameters, "algo/encode/" + layer + "/w", {w});
    test::set(parameters, "algo/encode/" + layer + "/b", {b});
  };
  set("e/0", 2, 1);
  set("e/1", 30, 4);
  set("g", 5, 6);
  set("p", 100, 1000);
  test::PredictingTape tape(parameters);
  ProbeTensors probes;
  // e[i,j,k]: the mean over i of the first encoding at (j,k), over j of the second at (i,k)
  const Tensor e = test::constant(tape, {1, 2, 2, 2}, {1, 0, 0.5, 0.5, 0, 1, 0.25, 0.75});
  probes[0] = read_form(tape, spec[0], e);
  CHECK(probes[0].shape == Shape{1, 2, 2, 2});
  probes[1] = read_form(tape, spec[1], test::constant(tape, {1, 2}, {0.25, 0.75}));
  CHECK(probes[1].size() == 2);
  probes[2] = test::constant(tape, {1, 2, 2}, {0, 1, 1, 0});
  const EncodedStep step = encoder.encode(tape, encoder.stack_encoders(tape), probes, 1, 2, true);
  Composer composer(tape, {});
  test::check_values(composer.dense(step.node), {5 * 0.25 + 6, 5 * 0.75 + 6});
  const auto edge = [](double over_i, double over_j, double p) {
    return static_cast<Real>(2 * over_i + 30 * over_j + 1 + 4 + 100 * p + 1000);
  };
  test::check_values(composer.dense(step.edge), {edge(0.5, 0.75, 0), edge(0.5, 0.25, 1),
                                                 edge(0.375, 0.125, 1), edge(0.625, 0.875, 0)});
  test::check_values(composer.dense(step.graph), {0});
  test::check_values(step.adj, {1, 1, 1, 1}, 0);  // by the permutation
}

TEST_CASE("encoder: a spec of more probes than fit is refused by name") {
  std::vector<Probe> probes;
  for (int k = 0; k < 30; ++k) {
    probes.push_back({std::to_string(k), Stage::kInput, Location::kNode, Type::kScalar});
  }
  Parameters parameters;
  CHECK_THROWS_AS(Encoder({parameters, 42}, "algo", Spec(probes), 1, EncoderInit::kDefault), Error);
  for (int k = 30; k < 50; ++k) {
    probes.push_back({std::to_string(k), Stage::kOutput, Location::kNode, Type::kScalar});
  }
  CHECK_THROWS_AS(Encoder({parameters, 42}, "other", Spec(probes), 1, EncoderInit::kDefault),
                  Error);
}

TEST_CASE("encoder: scalar hints start smaller under xavier_on_scalars, and they alone") {
  const Subject standard(16), xavier(16, EncoderInit::kXavierOnScalars);
  for (const auto& [name, param] : standard.parameters.entries()) {
    CAPTURE(name);
    const Real shrink = name == "algo/encode/g/w" ? Real(0.25) : Real{1};  // 1/sqrt(16)
    for (std::int64_t i = 0; i < param.shape.size(); ++i) {
      CHECK(xavier.parameters.at(param)[i] == shrink * standard.parameters.at(param)[i]);
    }
  }
}

}  // namespace
}  // namespace renar::encoder_test
