// Shards: the same bits on any number of threads, the sums of single samples, no allocations.
#include "nn/shard_runner.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/nn/small.h"
#include "tests/support.h"
#include "tests/support_device.h"
#include "trainer/net_in_training.h"

namespace renar::shard_runner_test {
namespace {

using test::Run;
using test::small_batch;
using test::small_net;

TEST_CASE("shard_runner: the same bits on 1, 2 and 3 threads") {
  NetOptions options = test::small_options("triplet_gmpnn", 16);
  for (const std::string algo : {"dfs", "bfs"}) {
    const Net net = small_net(algo, options);
    const Batch batch = small_batch(algo, 11, 9);
    REQUIRE(batch.shards.size() > 3);
    const Run one = test::run(net, batch, 1);
    for (const int threads : {2, 3}) {
      const Run other = test::run(net, batch, threads);
      CHECK(other.losses == one.losses);
      CHECK(other.grads == one.grads);
      CHECK(other.evaluated.values == one.evaluated.values);
    }
    options.lstm = true;
    options.dropout = options.teacher_forcing = 0.5;
  }
}

TEST_CASE("shard_runner: a batch is the sum of its samples") {
  for (const std::string algo : {"dfs", "bfs"}) {
    const Net net = small_net(algo);
    for (const int nodes : {2, 5, 16}) {
      const Batch batch = small_batch(algo, nodes, 6, {0.0, 0.2, 0.9});
      const Run whole = test::run(net, batch);
      const LossScales scales = loss_scales(batch);
      Losses losses{};
      std::vector<Real> grads(whole.grads.size());
      Tape tape;
      for (std::int64_t b = 0; b < batch.size; ++b) {
        const Batch one = test::sample_of(batch, b);
        tape.start(Tape::Mode::kRecord, net.parameters().values(), grads.data());
        net.forward(tape, Samples(one, one.shards[0]),
                    {.pass = Net::Pass::kTrain, .scales = &scales, .losses = &losses});
        tape.backward();
      }
      for (std::size_t p = 0; p < net.spec().size(); ++p) {
        CHECK(losses[p] == doctest::Approx(whole.losses[p]).epsilon(test::kRounding));
      }
      test::check_same("gradients", grads, whole.grads);
    }
  }
}

TEST_CASE("shard_runner: a net of two algorithms does with each what a net of one does") {
  const Spec dfs = find_algorithm("dfs").spec(), bfs = find_algorithm("bfs").spec();
  const Net both({{"dfs", dfs}, {"bfs", bfs}}, test::small_options());
  CHECK(both.active(0).shared == both.active(1).shared);
  CHECK(both.active(0).end == both.active(1).begin);
  CHECK(both.active(1).end == both.parameters().size());
  int task = 0;
  for (const std::string algo : {"dfs", "bfs"}) {
    const Net alone = small_net(algo);
    Batch batch = small_batch(algo, 5, 6);
    const Run expected = test::run(alone, batch);
    batch.task = task++;
    const Run found = test::run(both, batch, 2);
    CHECK(found.losses == expected.losses);
    CHECK(found.grads == expected.grads);
    CHECK(found.trained.values == expected.trained.values);
    CHECK(found.evaluated.values == expected.evaluated.values);
  }
  CHECK_THROWS_AS(Net({{"dfs", dfs}, {"dfs", dfs}}, test::small_options()), Error);
  CHECK_THROWS_AS(Net(std::vector<Task>(), test::small_options()), Error);
}

TEST_CASE("shard_runner: gradients are overwritten, not added to") {
  const Net net = small_net("bfs");
  const Batch batch = small_batch("bfs", 4, 3);
  ShardRunner runner(1);
  std::vector<Real> once, twice;
  const Losses losses = runner.gradients(net, batch, once);
  runner.gradients(net, batch, twice);
  CHECK(runner.gradients(net, batch, twice) == losses);
  CHECK(twice == once);
}

TEST_CASE("shard_runner: a steady training step makes no allocation") {
  for (const std::string algo : {"dfs", "bfs"}) {
    NetOptions options = test::small_options();
    options.lstm = algo == "bfs";
    options.dropout = options.lstm ? 0.5 : 0;
    options.reconstruction = {.method = options.lstm ? Method::kRenar : Method::kBaseline,
                              .masks = {.ratio = 0.3}};
    Net net = small_net(algo, options);
    const Batch batch = small_batch(algo, 7, 8);
    for (const std::size_t budget : {0, 1}) {
      ShardRunner runner(1);
      runner.limit_memory(budget);
      NetInTraining training(net, runner, {.learning_rate = 1e-3, .clip = 1});
      std::int64_t before = 0;
      for (int step = 0; step < 3; ++step) {
        before = test::allocations();
        training.update(batch);
      }
      CHECK(test::allocations() == before);
    }
  }
}

TEST_CASE("shard_runner: a net is run where it was placed, or not at all") {
  const auto device = test::accelerator();
  if (!device) return;
  Net net = small_net("bfs"), other = small_net("bfs");
  const Batch batch = small_batch("bfs", 4, 1);
  PlacedNet here(net), there(net, *device);
  Predictions predictions;
  std::vector<Real> grads;
  CHECK_THROWS_AS(ShardRunner(1, *device).predict(net, batch, predictions), Error);
  CHECK_THROWS_AS(ShardRunner(1, *device).gradients(here, batch, grads), Error);
  CHECK_THROWS_AS(ShardRunner(1).predict(there, batch, predictions), Error);
  CHECK_THROWS_AS(ShardRunner(1).gradients(there, batch, grads), Error);
  CHECK_THROWS_AS(here.copy(), Error);
  CHECK_THROWS_AS(there.download(other), Error);
  const Real was = net.parameters().values()[0];
  net.parameters().values()[0] = was + 1;
  there.download(net);
  CHECK(net.parameters().values()[0] == was);
}

TEST_CASE("shard_runner: no threads are an error") { CHECK_THROWS_AS(ShardRunner(0), Error); }

}  // namespace
}  // namespace renar::shard_runner_test
