// Processors by hand: who hears whom on a star, triplets, gate, attention, memories, and unknown
// kinds.
#include "nn/processor.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::processor_test {
namespace {

using Values = std::vector<Real>;

/// Four nodes with the ids 1 to 4, hidden 0.5, one hidden number or more, all weights 0 at first.
/// Edges of a star: everybody sends to node 0, and to itself.
struct Subject {
  explicit Subject(const std::string& name, std::int64_t hidden_size = 1, std::int64_t heads = 1)
      : kind(name),
        hidden(hidden_size),
        processor(make_processor({parameters, 42}, {name, hidden, 1, false, heads})) {
    test::zero(parameters);
  }
  bool v2() const { return kind.starts_with("gatv2"); }
  void set(const std::string& layer, const Values& values) {
    test::set(parameters, "processor/" + layer, values);
  }
  ProcessorOutputs step(Tape& tape) const {
    const auto make = [&](Shape shape, const Values& values) {
      return test::constant(tape, shape, values);
    };
    const Tensor one = make({1, hidden}, Values(static_cast<std::size_t>(hidden), 1));
    Composer composer(tape, {});
    return processor->step(
        tape, composer,
        {{make({1, 4, 1}, {1, 2, 3, 4}), one},
         {make({1, 4, 4, 1}, {1, 5, 2, 0, 7, 3, 1, 1, 2, 2, 9, 3, 0, 1, 4, 6}), one},
         {make({1, 4, 1}, {20, 20, 20, 20}), one},
         make({1, 4, 4}, {1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1}),
         make({1, 4, hidden}, Values(static_cast<std::size_t>(4 * hidden), 0.5))});
  }
  Values next_hidden() const {
    test::PredictingTape tape(parameters);
    const Tensor y = step(tape).hidden;
    return {y.data, y.data + y.size()};
  }

  std::string kind;
  std::int64_t hidden;
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
  test::PredictingTape tape(s.parameters);
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

TEST_CASE("processor: attention hears whom the second node axis names, itself always") {
  const auto heard = [](const std::string& kind, Real by_id) {
    Subject s(kind);
    s.set("values/w", {1, 0});
    if (kind.starts_with("gatv2")) s.set("head_0/w", {1});
    s.set(kind.starts_with("gatv2") ? "w_1/w" : "a_2/w", {by_id, 0});
    return s.next_hidden();
  };
  for (const char* kind : {"gat", "gatv2"}) {
    CAPTURE(kind);
    const std::string full = std::string(kind) + "_full";
    test::check_same("all alike", heard(kind, 0), {1, 1.5, 2, 2.5});
    test::check_same("the largest id", heard(kind, 100), {1, 2, 3, 4});
    test::check_same("all alike", heard(full, 0), {2.5, 2.5, 2.5, 2.5});
    test::check_same("the largest id", heard(full, 100), {4, 4, 4, 4});
    // Logits of -100 id, leaky: the weights are e^-1 .. e^-4.
    double sum = 0, ids = 0;
    for (int id = 1; id <= 4; ++id) {
      sum += std::exp(-id);
      ids += id * std::exp(-id);
    }
    test::check_same("the smallest", heard(full, -100), Values(4, static_cast<Real>(ids / sum)));
  }
}

TEST_CASE("processor: an edge speaks for attention to the node of its first axis") {
  for (const char* kind : {"gat_full", "gatv2_full"}) {
    Subject s(kind);
    const std::string layer = s.v2() ? "w_" : "a_";
    s.set("values/w", {1, 0});
    s.set(layer + "e/w", {-100});
    s.set(layer + "g/w", {50});  // 1000: all logits are positive
    if (s.v2()) s.set("head_0/w", {1});
    test::check_same(kind, s.next_hidden(), {4, 3.5, 1.5, 1});  // those of the smallest edges
    s.set("skip/w", {0, 2});                                    // 2 hidden
    s.set("skip/b", {-4});
    test::check_same(kind, s.next_hidden(), {1, 0.5, 0, 0});
  }
}

TEST_CASE("processor: of GATv2's layers the second is the listener's") {
  Subject s("gatv2_full");
  s.set("values/w", {1, 0});
  s.set("head_0/w", {1});
  s.set("w_1/w", {-100, 0});
  s.set("w_2/w", {100, 0});  // 100 (id of the listener - id of the speaker), leaky
  double sum = 0, ids = 0;
  for (int id = 1; id <= 4; ++id) {
    sum += std::exp(1 - id);
    ids += id * std::exp(1 - id);
  }
  test::check_same("ret", s.next_hidden(), {static_cast<Real>(ids / sum), 1, 1, 1});
}

TEST_CASE("processor: each head of attention listens on its own") {
  for (const std::string kind : {"gat_full", "gatv2_full"}) {
    Subject s(kind, 2, 2);
    s.set("values/w", {1, 0, 0, 1, 0, 0, 0, 0});
    const std::string layer = s.v2() ? "w_1" : "a_2";
    s.set(layer + "/w", {100, -100, 0, 0, 0, 0, 0, 0});
    s.set(layer + "/b", {0, 1000});
    if (s.v2()) s.set("head_0/w", {1});
    if (s.v2()) s.set("head_1/w", {1});
    test::check_same(kind, s.next_hidden(), {4, 1, 4, 1, 4, 1, 4, 1});
  }
}

TEST_CASE("processor: a memory network tells each node the largest edge of its row") {
  constexpr std::int64_t kWords =
      12;  // all twelve numbers of a node, an edge or the graph are alike
  const auto told = [](const std::string& kind) {
    Subject s(kind, kWords);
    const auto words = [](const auto& of) {  // position(c,7) is 1: that number alone is used
      Values table((kWords - 1) * 16, 0);
      for (std::size_t w = 0; w < kWords - 1; ++w) table[w * 16 + 7] = of(static_cast<Real>(w));
      return table;
    };
    s.set("query_biases", words([](Real) { return Real{1} / 12; }));  // 1; the graph's 20 is nil
    s.set("stories_biases", words([](Real w) { return 100 * w / 12; }));  // the largest is heard
    s.set("output_biases", words([](Real w) { return (w + 16) / 12; }));
    Values hop(16 * kWords, 0), answer(kWords * kWords, 0);
    hop[7 * kWords] = answer[0] = 1;
    s.set("hop/w", hop);
    s.set("answer/w", answer);
    const Values all = s.next_hidden();
    Values first;
    for (std::size_t i = 0; i < 4; ++i) first.push_back(all[i * kWords]);
    return first;
  };
  // query 1 + told (16 + the edge), and what the graph is told: five of its 128 memories say 16.
  const Real graph = 16 * Real{5} / 128 + 17;
  test::check_same("full", told("memnet_full"), {5 + graph, 7 + graph, 9 + graph, 6 + graph});
  test::check_same("masked", told("memnet_masked"), {1 + graph, 7 + graph, 9 + graph, 6 + graph});
}

TEST_CASE("processor: a memory network that starts from scratch stays where it is") {
  const Batch batch = test::small_batch("bfs", 4, 2);
  const auto largest_gradient = [&](const Net& net) {
    const test::Run run = test::run(net, batch);
    Real largest = 0;
    for (const auto& [name, param] : net.parameters().entries()) {
      if (!name.starts_with("processor/")) continue;
      for (std::int64_t i = 0; i < param.shape.size(); ++i) {
        largest =
            std::max(largest, std::abs(run.grads[static_cast<std::size_t>(param.offset + i)]));
      }
    }
    return largest;
  };
  Net net("bfs", find_algorithm("bfs").spec(), test::small_options("memnet_full"));
  CHECK(largest_gradient(net) == 0);
  test::fill_embeddings(net.parameters());
  CHECK(largest_gradient(net) > 0);
}

TEST_CASE("processor: more nodes than a memory network has memories for") {
  const Net net = test::small_net("bfs", test::small_options("memnet_masked", 2));
  ShardRunner runner(1);
  Predictions predictions;
  runner.predict(net, test::small_batch("bfs", 127, 1, test::kNoEdges), predictions);
  CHECK_THROWS_WITH_AS(
      runner.predict(net, test::small_batch("bfs", 128, 1, test::kNoEdges), predictions),
      "[processor] memnet keeps 128 memories: graphs of at most 127 nodes, not of 128", Error);
}

TEST_CASE("processor: heads that do not divide the hidden numbers are refused") {
  for (const std::int64_t heads : {0, -1, 3, 16}) {
    Parameters parameters;
    const ProcessorOptions options{.kind = "gat", .hidden = 8, .heads = heads};
    CHECK_THROWS_WITH_AS(
        make_processor({parameters, 42}, options),
        message_of("[processor] {} heads do not divide the 8 hidden numbers of gat", heads).c_str(),
        UsageError);
  }
}

TEST_CASE("processor: an unknown kind is refused with the nearest one") {
  Parameters parameters;
  CHECK_THROWS_WITH_AS(make_processor({parameters, 42}, {"triplet_gmpn", 4, 8, true}),
                       "[processor] no kind triplet_gmpn; the nearest is triplet_gmpnn",
                       UsageError);
  CHECK(processor_kinds().size() == 19);
}

}  // namespace
}  // namespace renar::processor_test
