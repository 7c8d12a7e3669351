// Attention by hand, on a star, against plain loops, and its gradients.
#include "kernels/attention.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::attention_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

constexpr double kExact = test::kFloatBuild ? 1e-6 : 1e-14;

/// The most of 4, 3, 1 heads that divide `hidden`.
std::int64_t heads_for(std::int64_t hidden) {
  return hidden % 4 == 0 ? 4 : hidden % 3 == 0 ? 3 : 1;
}

TEST_CASE("attention_weights: by hand, two heads") {
  // Head 0 of node 0: logits ln 1, ln 3. Head 1 of node 1: ln 4, 0.
  const Real ln3 = std::log(Real{3}), ln4 = std::log(Real{4});
  Numbers logits({1, 2, 2, 2}, {0, 5, ln3, 5, 7, ln4, 7, 0});
  FreshTape fresh;
  const Tensor p = attention_weights(fresh.tape, logits.tensor(), {});
  test::check_values(p, {0.25, 0.5, 0.75, 0.5, 0.5, 0.8, 0.5, 0.2}, kExact);
  test::run_backward(fresh.tape, p, {4, 0, 0, 0, 0, 0, 0, 10});
  // dlogit[j] = p[j] (dp[j] - sum p dp): 0.25 (4 - 1), 0.75 (0 - 1); 0.8 (0 - 2), 0.2 (10 - 2)
  test::check_same("dlogits", logits.grad(), {0.75, 0, -0.75, 0, 0, -1.6, 0, 1.6}, kExact);
}

TEST_CASE("attention_weights: in a star every node but the hub hears the hub and itself") {
  constexpr std::int64_t kNodes = 4;
  Values ids, edges(16, 0);
  for (Real id = 0; id < 16; ++id) ids.push_back(id);
  for (std::size_t i = 0; i < kNodes; ++i) edges[i * kNodes + i] = edges[i * kNodes + 1] = 1;
  Numbers logits({1, kNodes, kNodes, 1}, ids), adj({1, kNodes, kNodes}, edges);
  FreshTape fresh;
  const Tensor p = attention_weights(fresh.tape, logits.tensor(), adj.data());
  const auto sigmoid = [](double x) { return static_cast<Real>(1 / (1 + std::exp(-x))); };
  const Real near = sigmoid(1), far = sigmoid(2);  // logits one and two apart
  test::check_values(
      p, {1 - near, near, 0, 0, 0, 1, 0, 0, 0, 1 - near, near, 0, 0, 1 - far, 0, far}, kExact);
  test::run_backward(fresh.tape, p, Values(16, 1));
  for (std::size_t at = 0; at < 16; ++at) {
    CHECK(logits.grad()[at] == doctest::Approx(0));
    if (edges[at] == 0) CHECK(p.data[at] == 0);
  }
}

TEST_CASE("attention_weights: a node that hears nobody hears all alike, however large the logits") {
  Numbers logits({1, 2, 2, 1}, {1e9, 1e9, -1e9, 1e9}), adj({1, 2, 2}, {0, 0, 1, 0});
  FreshTape fresh;
  test::check_values(attention_weights(fresh.tape, logits.tensor(), adj.data()), {0.5, 0.5, 1, 0},
                     0);
}

TEST_CASE("attend: by hand, two heads, one of which listens to the other node") {
  Numbers weights({1, 2, 2, 2}, {1, 0, 0, 1, 1, 0.5, 0, 0.5});
  Numbers values({1, 2, 4}, {1, 2, 3, 4, 10, 20, 30, 40}), onto({1, 2, 4}, Values(8, 100));
  FreshTape fresh;
  const Tensor y = attend(fresh.tape, weights.tensor(), values.tensor(), onto.tensor());
  test::check_values(y, {101, 102, 130, 140, 101, 102, 116.5, 122}, kExact);
  test::run_backward(fresh.tape, y, {1, 0, 1, 0, 0, 1, 0, 2});
  test::check_same("dweights", weights.grad(), {1, 3, 10, 30, 2, 8, 20, 80}, kExact);
  test::check_same("dvalues", values.grad(), {1, 1, 0, 1, 0, 0, 1, 1}, kExact);
  CHECK(onto.grad() == Values{1, 0, 1, 0, 0, 1, 0, 2});
}

// softmax(logits) values by the reference's formula: a bias of -1e9 where there is no edge.
Values plain(const Tensor& logits, const Tensor& adj, const Tensor& values) {
  const std::int64_t batch = values.dim(0), n = values.dim(1), h = values.dim(2);
  const std::int64_t heads = logits.dim(3), width = h / heads;
  Values y;
  for (std::int64_t at = 0; at < batch * n * h; ++at) {
    const std::int64_t i = at / h, b = i / n, k = at % h / width;
    double sum = 0, total = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const bool edge = !adj || adj.data[i * n + j] > 0;
      const double p = edge ? std::exp(double{logits.data[(i * n + j) * heads + k]}) : 0;
      sum += p;
      total += p * double{values.data[(b * n + j) * h + at % h]};
    }
    y.push_back(static_cast<Real>(total / sum));
  }
  return y;
}

/// A random graph in which everybody hears at least itself.
Numbers graph_with_loops(std::int64_t batch, std::int64_t nodes, std::uint64_t seed) {
  Numbers adj = test::random_adjacency(batch, nodes, seed);
  for (std::int64_t i = 0; i < batch * nodes; ++i) adj.data().data[i * nodes + i % nodes] = 1;
  return adj;
}

TEST_CASE("attention: agrees with the formula, with and without an adjacency") {
  for (const test::Extents& e : test::kExtents) {
    const std::int64_t heads = heads_for(e.hidden);
    Numbers logits = Numbers::random({e.batch, e.nodes, e.nodes, heads}, 1);
    Numbers values = Numbers::random({e.batch, e.nodes, e.hidden}, 2);
    Numbers edges = graph_with_loops(e.batch, e.nodes, 3);
    for (const Tensor& adj : {Tensor{}, edges.data()}) {
      FreshTape fresh;
      const Tensor p = attention_weights(fresh.tape, logits.tensor(), adj);
      test::check_values(attend(fresh.tape, p, values.tensor(), {}),
                         plain(logits.data(), adj, values.data()));
    }
  }
}

TEST_CASE("attention_weights: the kernels do as the definition, with and without an adjacency") {
  const auto masked = [](Tape& tape, const Inputs& in) {
    return attention_weights(tape, in[0], in[1]);
  };
  const auto full = [](Tape& tape, const Inputs& in) { return attention_weights(tape, in[0], {}); };
  const Shape shapes[] = {{1, 1, 1, 1}, {3, 1, 1, 4},   {1, 2, 2, 3},   {3, 3, 3, 2},  {3, 5, 5, 4},
                          {1, 7, 7, 1}, {1, 20, 20, 3}, {1, 33, 33, 2}, {1, 64, 64, 1}};
  for (const Shape& shape : shapes) {
    const Numbers logits = Numbers::random(shape, 1);
    test::same_on_device(full, {.inputs = {logits}});
    test::same_on_device(
        masked, {.inputs = {logits}, .constants = {test::random_adjacency(shape[0], shape[1], 2)}});
  }
}

TEST_CASE("attention_weights: the kernels see who is heard, however far apart the logits") {
  const auto masked = [](Tape& tape, const Inputs& in) {
    return attention_weights(tape, in[0], in[1]);
  };
  for (const std::int64_t n : {3, 40}) {  // one lane a sender, and two senders for some lanes
    Numbers logits = Numbers::random({1, n, n, 2}, 1);
    for (std::int64_t i = 0; i < n * n * 2; ++i) logits.data().data[i] *= 300;
    Numbers adj({1, n, n}, Values(static_cast<std::size_t>(n * n), 0));
    for (std::int64_t i = 0; i < n; ++i) adj.data().data[i * n + i % 3] = 1;  // just one sender
    test::same_on_device(masked, {.inputs = {logits}, .constants = {adj}});
    adj.data().data[n] = adj.data().data[n - 1] = 1;
    test::same_on_device(masked, {.inputs = {logits}, .constants = {adj}});
  }
}

TEST_CASE("attend: the kernels do as the definition, onto something or not") {
  const auto onto = [](Tape& tape, const Inputs& in) { return attend(tape, in[0], in[1], in[2]); };
  const auto alone = [](Tape& tape, const Inputs& in) { return attend(tape, in[0], in[1], {}); };
  const test::Extents sizes[] = {{1, 1, 1}, {3, 1, 8},  {1, 2, 3},   {3, 2, 33},
                                 {3, 5, 8}, {1, 3, 24}, {1, 5, 128}, {1, 20, 1}};
  for (const test::Extents& e : sizes) {
    const Numbers weights = Numbers::random({e.batch, e.nodes, e.nodes, heads_for(e.hidden)}, 3);
    const Shape nodes = {e.batch, e.nodes, e.hidden};
    const Numbers values = Numbers::random(nodes, 4);
    test::same_on_device(alone, {.inputs = {weights, values}});
    test::same_on_device(onto, {.inputs = {weights, values, Numbers::random(nodes, 5)}});
  }
}

TEST_CASE("attention: the kernels leave inputs without gradient alone") {
  const auto op = [](Tape& tape, const Inputs& in) { return attend(tape, in[0], in[1], in[2]); };
  const auto turned = [](Tape& tape, const Inputs& in) {
    return attend(tape, in[1], in[0], in[2]);
  };
  const Numbers weights = Numbers::random({2, 5, 5, 2}, 1), values = Numbers::random({2, 5, 6}, 2);
  test::same_on_device(op, {.inputs = {weights}, .constants = {values, values}});
  test::same_on_device(turned, {.inputs = {values}, .constants = {weights, values}});
}

TEST_CASE("attention: gradients" * doctest::skip(test::kFloatBuild)) {
  for (const std::int64_t heads : {1, 3}) {
    const std::vector<Numbers> logits = {Numbers::random({2, 4, 4, heads}, 1)};
    Numbers adj = test::random_adjacency(2, 4, 2);
    for (const Tensor& edges : {Tensor{}, adj.data()}) {
      test::check_gradient(
          [&](Tape& tape, const Inputs& in) { return attention_weights(tape, in[0], edges); },
          logits);
    }
    const std::vector<Numbers> all = {logits[0], Numbers::random({2, 4, 6}, 3),
                                      Numbers::random({2, 4, 6}, 4)};
    test::check_gradient(
        [](Tape& tape, const Inputs& in) { return attend(tape, in[0], in[1], in[2]); }, all);
    test::check_gradient(
        [](Tape& tape, const Inputs& in) { return attend(tape, in[0], in[1], {}); },
        {all[0], all[1]});
  }
}

TEST_CASE("attention: inputs without gradient are left alone") {
  Numbers weights = Numbers::random({1, 3, 3, 2}, 1), values = Numbers::random({1, 3, 4}, 2);
  for (const bool learn_weights : {true, false}) {
    FreshTape fresh;
    const Tensor y = attend(fresh.tape, learn_weights ? weights.tensor() : weights.data(),
                            learn_weights ? values.data() : values.tensor(), {});
    test::run_backward(fresh.tape, y, Values(12, 1));
    CHECK((values.grad() != Values(12, 0)) == !learn_weights);
  }
}

TEST_CASE("attention: shapes that do not fit are refused") {
  Numbers x = Numbers::random({2, 3, 4}, 1), logits = Numbers::random({2, 3, 3, 3}, 2);
  Numbers oblong = Numbers::random({2, 3, 2, 3}, 3), one = Numbers::random({1}, 4);
  FreshTape fresh;
  CHECK_THROWS_AS(attention_weights(fresh.tape, x.tensor(), {}), Error);
  CHECK_THROWS_AS(attention_weights(fresh.tape, oblong.tensor(), {}), Error);
  CHECK_THROWS_AS(attention_weights(fresh.tape, logits.tensor(), x.data()), Error);
  CHECK_THROWS_AS(attend(fresh.tape, logits.tensor(), logits.tensor(), {}), Error);
  CHECK_THROWS_AS(attend(fresh.tape, logits.tensor(), x.tensor(), {}),
                  Error);  // 3 heads, 4 numbers
  CHECK_THROWS_AS(attend(fresh.tape, logits.tensor(), one.tensor(), {}), Error);
}

}  // namespace
}  // namespace renar::attention_test
