// What becomes of the processor's hidden' before decoders and the next step read it: dropout in
// training, then the LSTM. Gradients and the plain form are net_test.cpp's.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::net_hidden_test {
namespace {

using test::Run;
using test::small_batch;
using test::small_net;
using test::small_options;

NetOptions with_memory() {
  NetOptions options = small_options();
  options.lstm = true;
  options.dropout = 0.3;
  return options;
}

/// What training predicts in that update.
std::vector<std::vector<Real>> trained(const Net& net, const Batch& batch,
                                       std::int64_t update = 0) {
  ShardRunner runner(1);
  Predictions predictions{.hints = Predictions::Hints::kLogits, .values = {}};
  predictions.prepare(batch);
  std::vector<Real> grads;
  runner.gradients(net, batch, grads, {.update = update}, &predictions);
  return predictions.values;
}

TEST_CASE("net hidden: dropout in training alone, another in every update") {
  const Batch batch = small_batch("dfs", 4, 3);
  NetOptions options = small_options();
  const Run plain = test::run(small_net("dfs", options), batch);
  options.dropout = 0.3;
  const Net net = small_net("dfs", options);
  const Run dropped = test::run(net, batch);
  CHECK(dropped.evaluated.values == plain.evaluated.values);
  CHECK(dropped.trained.values != plain.trained.values);
  CHECK(trained(net, batch, 0) == dropped.trained.values);
  CHECK(trained(net, batch, 1) != dropped.trained.values);
}

TEST_CASE("net hidden: the LSTM reads what dropout leaves, and nothing is dropped behind it") {
  const Batch batch = small_batch("dfs", 4, 3);
  NetOptions options = with_memory();
  options.dropout = 1 - 1e-12;  // nothing is left
  Net dropped = small_net("dfs", options);
  options.dropout = 0;
  Net deaf = small_net("dfs", options);  // to the processor's hidden'
  const Param w = deaf.parameters().find("lstm/w").param;
  std::fill_n(deaf.parameters().at(w), 8 * 4 * 8, Real{0});
  const auto silent = trained(deaf, batch);  // biases of 0 leave the cells empty
  for (Net* net : {&dropped, &deaf}) {
    test::set(net->parameters(), "lstm/b", test::random_values(4 * 8, 1));
  }
  const auto without = trained(dropped, batch), unheard = trained(deaf, batch);
  for (std::size_t p = 0; p < without.size(); ++p) {
    test::check_same("training", without[p], unheard[p]);
  }
  CHECK(unheard != silent);
}

TEST_CASE("net hidden: an LSTM's state, dropout and coins are those of the sample in any shard") {
  NetOptions options = with_memory();
  options.teacher_forcing = 0.5;
  Batch batch = small_batch("bfs", 5, 7, {0.0, 0.2, 0.9});
  const Net net = small_net("bfs", options);
  batch.shards = {{0, 7}};
  const Run together = test::run(net, batch);
  batch.shards = {{0, 1}, {1, 4}, {4, 6}, {6, 7}};
  const Run apart = test::run(net, batch, 2);
  CHECK(apart.trained.values == together.trained.values);
  CHECK(apart.evaluated.values == together.evaluated.values);
  for (std::size_t p = 0; p < net.spec().size(); ++p) {
    CHECK(apart.losses[p] == doctest::Approx(together.losses[p]).epsilon(test::kRounding));
  }
  test::check_same("gradients", apart.grads, together.grads);
}

}  // namespace
}  // namespace renar::net_hidden_test
