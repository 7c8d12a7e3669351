// The decoders by hand: two nodes, one hidden number.
#include "nn/decoder.h"

#include <doctest/doctest.h>

#include "kernels/log_sinkhorn.h"
#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::decoder_test {
namespace {

using Values = std::vector<Real>;

struct Subject {
  explicit Subject(const Probe& p, bool edges = true)
      : probe(p), decoder({parameters, 42}, "algo/decode", probe, 1, {.edge = edges ? 2 : 1}) {
    test::zero(parameters);
  }

  Subject& layer(int k, const Values& w, const Values& b) {
    const std::string name = "algo/decode/" + probe.name + "/" + std::to_string(k);
    test::set(parameters, name + "/w", w);
    test::set(parameters, name + "/b", b);
    return *this;
  }

  // h_t = [1, 10, 200] and [2, 20, 100]; e_t + edge' = {-8, -30; -8, -17.5}; graph_fts = 7.
  Tensor decode(Tape& tape, bool edges = true, bool masked = false, bool fused = true,
                Tensor noise = {}) const {
    const auto make = [&](Shape shape, const Values& values) {
      return test::constant(tape, shape, values);
    };
    const Tensor one = make({1, 1}, {1});
    EncodedStep encoded{{make({1, 2, 1}, {1, 2}), one},
                        {make({1, 2, 2, 1}, {0, -30, -8, 1}), one},
                        {make({1, 1}, {7}), one},
                        {make({1, 2, 1}, {7, 7}), one},
                        make({1, 2, 2}, {1, 0, 1, 1})};
    Composer composer(tape, {.fused_ops = fused});
    return decoder.decode(tape, composer,
                          {encoded, make({1, 2, 1}, {10, 20}), make({1, 2, 1}, {200, 100}),
                           edges ? make({1, 2, 2, 1}, {-8, 0, 0, -18.5}) : Tensor{}, masked},
                          noise);
  }

  Parameters parameters;
  Probe probe;
  Decoder decoder;
};

Probe hint(Location location, Type type, int classes = 0) {
  return {"x", Stage::kHint, location, type, classes};
}

struct Pointer : Subject {
  Pointer() : Subject(hint(Location::kNode, Type::kPointer)) {
    layer(0, {1, 0, 0}, {0}).layer(1, {0, 1, 0}, {0}).layer(2, {1, 1}, {0}).layer(3, {2}, {1});
  }
};

TEST_CASE("decoder: nodes by hand") {
  for (const Type type : {Type::kScalar, Type::kMask, Type::kMaskOne}) {
    Subject s(hint(Location::kNode, type));
    s.layer(0, {1, 2, 3}, {0.5});
    test::PredictingTape tape(s.parameters);
    const Tensor y = s.decode(tape);
    CHECK(y.shape == Shape{1, 2});
    test::check_values(y, {1 + 20 + 600 + 0.5, 2 + 40 + 300 + 0.5});
  }
  Subject s(hint(Location::kNode, Type::kCategorical, 2));
  s.layer(0, {1, 0, 0, 1, 0, 2}, {5, 6});  // class 0 reads node_fts, class 1 the two hiddens
  test::PredictingTape tape(s.parameters);
  const Tensor y = s.decode(tape);
  CHECK(y.shape == Shape{1, 2, 2});
  test::check_values(y, {6, 10 + 400 + 6, 7, 20 + 200 + 6});
}

TEST_CASE("decoder: a node pointer by hand; j points at k and p3 is read at [k,j]") {
  const Pointer s;
  for (const bool fused : {true, false}) {
    test::PredictingTape tape(s.parameters);
    // p1 = {1, 2}, p2 = {10, 20}: 2 max(p1[j], p2[k] + p3[k,j]) + 1
    const Tensor y = s.decode(tape, true, false, fused);
    CHECK(y.shape == Shape{1, 2, 2});
    test::check_values(y, {2 * 2 + 1, 2 * 12 + 1, 2 * 2 + 1, 2 * 2.5 + 1});
  }
}

TEST_CASE("decoder: where non-edges are ruled out, pointers and edge masks are") {
  const Pointer pointer;
  test::PredictingTape tape(pointer.parameters);
  test::check_values(pointer.decode(tape, true, true), {5, -1, 5, 6});

  for (const Type type : {Type::kMask, Type::kMaskOne, Type::kScalar}) {
    Subject s(hint(Location::kEdge, type));
    s.layer(2, {1, 1}, {0});
    test::PredictingTape own(s.parameters);
    const Real ruled_out = type == Type::kScalar ? Real(-30) : Real(-31);  // the smallest - 1
    test::check_values(s.decode(own, true, true), {-8, ruled_out, -8, -17.5});
  }
}

TEST_CASE("decoder: edges by hand, d1 at the first node and d2 at the second") {
  Subject s(hint(Location::kEdge, Type::kScalar));
  s.layer(0, {1, 0, 0}, {1}).layer(1, {0, 1, 0}, {2}).layer(2, {1, 1}, {3});
  test::PredictingTape tape(s.parameters);
  const Tensor y = s.decode(tape);
  CHECK(y.shape == Shape{1, 2, 2});
  test::check_values(y, {1 + 10 - 8 + 6, 1 + 20 - 30 + 6, 2 + 10 - 8 + 6, 2 + 20 - 17.5 + 6});
}

TEST_CASE("decoder: without edge' only edge_fts is read") {
  Subject s(hint(Location::kEdge, Type::kCategorical, 2), false);
  s.layer(2, {1, 10}, {0, 0});
  test::PredictingTape tape(s.parameters);
  const Tensor y = s.decode(tape, false);
  CHECK(y.shape == Shape{1, 2, 2, 2});
  test::check_values(y, {0, 0, -30, -300, -8, -80, 1, 10});
}

TEST_CASE("decoder: graphs read each number's maximum over the nodes") {
  Subject s(hint(Location::kGraph, Type::kScalar));
  s.layer(0, {1, 1, 1}, {0.5}).layer(1, {3}, {0.25});
  test::PredictingTape tape(s.parameters);
  const Tensor y = s.decode(tape);
  CHECK(y.shape == Shape{1});
  test::check_values(y, {2 + 20 + 200 + 0.5 + 21 + 0.25});
}

TEST_CASE("decoder: an edge pointer by hand, d1 at the first node and d4 at the target") {
  Subject s(hint(Location::kEdge, Type::kPointer));
  s.layer(0, {1, 0, 0}, {0}).layer(1, {0, 1, 0}, {2}).layer(2, {1, 1}, {0});
  s.layer(3, {-1, 0, 0}, {1}).layer(4, {2}, {1});
  for (const bool fused : {true, false}) {
    for (const bool masked : {true, false}) {  // edge pointers have no masked form
      test::PredictingTape tape(s.parameters);
      const Tensor y = s.decode(tape, true, masked, fused);
      CHECK(y.shape == Shape{1, 2, 2, 2});
      // the edges are {5, -7; 6, 6.5} and the targets {0, -1}
      test::check_values(y, {11, 11, 1, -1, 13, 13, 14, 14});
    }
  }
}

TEST_CASE("decoder: a graph pointer by hand") {
  Subject s(hint(Location::kGraph, Type::kPointer));
  s.layer(0, {1, 1, 1}, {0.5}).layer(1, {3}, {0.25}).layer(2, {1, 2, 0}, {100});
  test::PredictingTape tape(s.parameters);
  const Tensor y = s.decode(tape);
  CHECK(y.shape == Shape{1, 2});
  const Real graph = 2 + 20 + 200 + 0.5 + 21 + 0.25;
  test::check_values(y, {graph + 1 + 20 + 100, graph + 2 + 40 + 100});
}

TEST_CASE("decoder: what is left of a permutation without the pipeline is a pointer") {
  const Pointer pointer;
  Subject s(hint(Location::kNode, Type::kShouldBePermutation));
  std::copy_n(pointer.parameters.values(), s.parameters.size(), s.parameters.values());
  test::PredictingTape one(pointer.parameters), other(s.parameters);
  const Tensor want = pointer.decode(one), got = s.decode(other);
  test::check_values(got, {want.data, want.data + want.size()}, 0);
}

TEST_CASE("decoder: a permutation pointer is the log-sinkhorn of a pointer's logits and noise") {
  Subject s({"x", Stage::kOutput, Location::kNode, Type::kPermutationPointer});
  const Pointer pointer;
  std::copy_n(pointer.parameters.values(), s.parameters.size(), s.parameters.values());
  for (const bool noisy : {false, true}) {
    test::PredictingTape one(pointer.parameters), other(s.parameters);
    const Tensor noise = noisy ? test::constant(one, {1, 2, 2}, {1, 2, 3, 4}) : Tensor{};
    const Tensor want = log_sinkhorn(one, pointer.decode(one), kDecoderRounds, noise);
    const Tensor got = s.decode(other, true, false, true, noise);
    CHECK(got.shape == Shape{1, 2, 2});
    test::check_values(got, {want.data, want.data + want.size()}, 0);
  }
}

}  // namespace
}  // namespace renar::decoder_test
