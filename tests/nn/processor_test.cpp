// Processors by hand: who hears whom on a star, triplets, gate, and unknown kinds.
#include "nn/processor.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar {
namespace {

using Values = std::vector<Real>;

/// Four nodes with the ids 1 to 4 and hidden 0.5, one hidden number, all weights 0 to begin with.
/// Edges of a star: everybody sends to node 0, and to itself.
struct Subject {
  explicit Subject(const std::string& kind)
      : processor(make_processor({parameters, 42}, {kind, 1, 1, false})) {
    test::zero(parameters);
  }
  void set(const std::string& layer, const Values& values) {
    test::set(parameters, "processor/" + layer, values);
  }
  ProcessorOutputs step(Tape& tape) const {
    const auto make = [&](Shape shape, const Values& values) {
      return test::constant(tape, shape, values);
    };
    const Tensor one = make({1, 1}, {1});
    Composer composer(tape, {});
    return processor->step(
        tape, composer,
        {{make({1, 4, 1}, {1, 2, 3, 4}), one},
         {make({1, 4, 4, 1}, {1, 5, 2, 0, 7, 3, 1, 1, 2, 2, 9, 3, 0, 1, 4, 6}), one},
         {make({1, 4, 1}, {20, 20, 20, 20}), one},
         make({1, 4, 4}, {1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1}),
         make({1, 4, 1}, Values(4, 0.5))});
  }
  Values next_hidden() const {
    Tape tape = test::tape_on(parameters);
    const Tensor y = step(tape).hidden;
    return {y.data, y.data + y.size()};
  }

  Parameters parameters;
  std::unique_ptr<Processor> processor;
};

TEST_CASE("processor: the first node axis sends, and a missing edge is not a message of 0") {
  const auto heard = [](const std::string& kind) {
    Subject s(kind);
    s.set("m_2/w", {1, 0});  // the message is the sender's id ..
    s.set("mlp_0/w", {1});
    s.set("mlp_1/w", {1});
    s.set("mlp_1/b", {-10});  // .. less 10
    s.set("o_2/w", {-1});
    Values ids;
    for (const Real x : s.next_hidden()) ids.push_back(10 - x);
    return ids;
  };
  for (const char* kind : {"pgn", "pgn_mask", "triplet_pgn"}) {
    CHECK(heard(kind) == Values{4, 2, 3, 4});
  }
  CHECK(heard("mpnn") == Values{4, 4, 4, 4});
  CHECK(heard("deepsets") == Values{1, 2, 3, 4});
}

TEST_CASE("processor: a message is of receiver, sender, edge and graph") {
  Subject s("deepsets");
  s.set("m_1/w", {100, 2});   // receiver: 100 id + 2 hidden
  s.set("m_2/w", {1000, 4});  // sender
  s.set("m_e/w", {0.125});
  s.set("m_g/w", {0.5});
  s.set("m_1/b", {0.25});
  s.set("mlp_0/w", {1});
  s.set("mlp_1/w", {1});
  s.set("o_1/w", {10000, 0});
  s.set("o_2/w", {1});
  const Real edge[] = {1, 3, 9, 6};
  Values want;
  for (int id = 1; id <= 4; ++id) {
    want.push_back(static_cast<Real>(11100 * id + 1 + 2 + 10.25) + edge[id - 1] / 8);
  }
  test::check_same("ret", s.next_hidden(), want);
}

TEST_CASE("processor: edge' is the maximum over the first node of a triplet") {
  Subject s("triplet_mpnn");
  s.set("t_2/w", {10, 0});   // 10 id of j
  s.set("t_3/w", {100, 0});  // 100 id of k
  s.set("t_g/w", {50});      // 1000
  s.set("t_e_1/w", {1});     // edge [i,j]
  s.set("o_3/w", {1});
  Tape tape = test::tape_on(s.parameters);
  const Tensor edge = s.step(tape).edge;
  CHECK(edge.shape == Shape{1, 4, 4, 1});
  const int column_maximum[] = {7, 5, 9, 6};
  Values want;
  for (int j = 0; j < 4; ++j) {
    for (int k = 0; k < 4; ++k) {
      want.push_back(static_cast<Real>(10 * (j + 1) + 100 * (k + 1) + 1000 + column_maximum[j]));
    }
  }
  test::check_values(edge, want);
}

TEST_CASE("processor: a gate starts nearly closed and keeps the hidden state") {
  Subject s("gmpnn");
  Parameters fresh;
  make_processor({fresh, 42}, {"gmpnn", 4, 1, true});
  const Real* bias = fresh.at(fresh.find("processor/gate_3/b").param);
  for (int i = 0; i < 4; ++i) CHECK(bias[i] == -3);

  s.set("o_1/w", {1, 0});  // ret = id
  s.set("gate_3/b", {-3});
  const double gate = 1 / (1 + std::exp(3.0));
  Values want;
  for (int id = 1; id <= 4; ++id) want.push_back(static_cast<Real>(id * gate + 0.5 * (1 - gate)));
  test::check_same("ret", s.next_hidden(), want);
}

TEST_CASE("processor: an unknown kind is refused with the nearest one") {
  Parameters parameters;
  CHECK_THROWS_WITH_AS(make_processor({parameters, 42}, {"triplet_gmpn", 4, 8, true}),
                       "[processor] no kind triplet_gmpn; the nearest is triplet_gmpnn",
                       UsageError);
  CHECK(processor_kinds().size() == 13);
}

}  // namespace
}  // namespace renar
