// Who owns a net's numbers in training: an update moves them where they lie, the host has them when
// it asks, and a run that goes on from what it was given has the same bits.
#include "trainer/net_in_training.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "core/check.h"
#include "tests/nn/chunks.h"
#include "tests/nn/small.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::net_in_training_test {
namespace {

using Values = std::vector<Real>;

constexpr OptimizerOptions kOptions{.learning_rate = 1e-2, .clip = 1.0};
constexpr double kAlike = test::kFloatBuild ? 1e-4 : 1e-9;

Values values(const Net& net) {
  return {net.parameters().values(), net.parameters().values() + net.parameters().size()};
}

Batch batch_of(int task, int seed) {
  Batch batch = test::small_batch(task == 0 ? "dfs" : "bfs", 4, 3, test::kAnyGraph,
                                  static_cast<std::uint32_t>(seed));
  batch.task = task;
  return batch;
}

/// The CPU and, where there is one, the device.
std::vector<Device> places() {
  std::vector<Device> found = {Device::kCpu};
  if (const auto device = test::accelerator()) found.push_back(*device);
  return found;
}

/// A net of two algorithms and what it has become.
struct Subject {
  explicit Subject(Device device, const OptimizerOptions& options = kOptions,
                   const Values& start = {}, const OptimizerState& state = {})
      : net(started(start)), runner(1, device), training(net, runner, options, state) {}
  static Net started(const Values& start) {
    Net net = test::net_of_both();
    std::copy(start.begin(), start.end(), net.parameters().values());
    return net;
  }
  /// The two algorithms in turn.
  void updates(int begin, int end) {
    for (int u = begin; u < end; ++u) {
      losses.push_back(total(training.update(batch_of(u % 2, u + 1), {.update = u})));
    }
  }

  Net net;
  ShardRunner runner;
  NetInTraining training;
  std::vector<double> losses;
};

TEST_CASE("net in training: on the CPU it is the runner's gradients and the optimizer") {
  Subject s(Device::kCpu);
  s.updates(0, 4);
  Net net = test::net_of_both();
  ShardRunner runner(1);
  Optimizer optimizer(net.parameters().size(), kOptions);
  Values grads;
  for (int u = 0; u < 4; ++u) {
    const Batch batch = batch_of(u % 2, u + 1);
    CHECK(total(runner.gradients(net, batch, grads, {.update = u})) ==
          s.losses[static_cast<std::size_t>(u)]);
    optimizer.update(net.parameters(), grads, net.active(batch.task));
  }
  CHECK(values(s.net) == values(net));
  CHECK(s.training.fetch().m == optimizer.state().m);
  CHECK(s.training.updates() == 4);
}

TEST_CASE("net in training: on the device it goes as on the CPU, clipped or not, frozen or not" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  for (const double clip : {0.0, 0.1}) {
    for (const bool frozen : {false, true}) {
      const OptimizerOptions options{
          1e-3, clip, frozen ? test::net_of_both().processor_size() : std::int64_t{0}};
      Subject cpu(Device::kCpu, options), there(*device, options);
      const Values start = values(there.net);
      cpu.updates(0, 3);
      there.updates(0, 3);
      CHECK(values(there.net) == start);  // the host's, until they are asked for
      for (std::size_t u = 0; u < 3; ++u) {
        CHECK(there.losses[u] == doctest::Approx(cpu.losses[u]).epsilon(kAlike));
      }
      const OptimizerState &got = there.training.fetch(), &want = cpu.training.fetch();
      CHECK(got.steps == 3);
      test::check_same("m", got.m, want.m, kAlike);
      test::check_same("v", got.v, want.v, kAlike);
      // Adam makes whole steps of gradients that are rounding alone.
      if (!test::kFloatBuild) test::check_same("values", values(there.net), values(cpu.net), 1e-6);
      const auto same = std::mismatch(start.begin(), start.end(), values(there.net).begin()).first;
      CHECK((same - start.begin() >= options.frozen));
      CHECK(values(there.net) != start);
    }
  }
}

TEST_CASE("net in training: an update of one algorithm leaves the other's numbers alone") {
  for (const Device device : places()) {
    Subject s(device);
    const Values start = values(s.net);
    s.updates(0, 1);  // dfs
    const OptimizerState& state = s.training.fetch();
    const Values end = values(s.net);
    const ActiveParameters dfs = s.net.active(0), bfs = s.net.active(1);
    const auto moved = [&](std::int64_t begin, std::int64_t past) {
      return !std::equal(start.begin() + begin, start.begin() + past, end.begin() + begin);
    };
    CHECK(moved(0, dfs.shared));
    CHECK(moved(dfs.begin, dfs.end));
    CHECK_FALSE(moved(bfs.begin, bfs.end));
    for (const Values& moment : {state.m, state.v}) {
      CHECK(std::all_of(moment.begin() + bfs.begin, moment.begin() + bfs.end,
                        [](Real x) { return x == 0; }));
    }
  }
}

TEST_CASE("net in training: what was fetched goes on to the bit" *
          doctest::skip(test::kSanitized)) {
  for (const Device device : places()) {
    Subject through(device), first(device);
    through.updates(0, 4);
    first.updates(0, 2);
    const OptimizerState state = first.training.fetch();
    Subject second(device, kOptions, values(first.net), state);
    first.updates(2, 3);  // asking changes nothing
    CHECK(second.training.updates() == 2);
    second.updates(2, 4);
    CHECK(second.losses == std::vector(through.losses.begin() + 2, through.losses.end()));
    CHECK(first.losses[2] == through.losses[2]);
    const OptimizerState &got = second.training.fetch(), &want = through.training.fetch();
    CHECK(values(second.net) == values(through.net));
    CHECK(got.m == want.m);
    CHECK(got.v == want.v);
    CHECK(got.steps == want.steps);
  }
}

TEST_CASE("net in training: predictions are by the parameters as they are") {
  for (const Device device : places()) {
    Subject s(device);
    const Batch batch = batch_of(1, 9);
    Predictions before, now, fetched;
    s.runner.predict(s.training.placed(), batch, before);
    s.updates(0, 2);
    s.runner.predict(s.training.placed(), batch, now);
    s.training.fetch();
    s.runner.predict(PlacedNet(s.net, device), batch, fetched);
    CHECK(now.values == fetched.values);
    CHECK(now.values != before.values);
  }
}

TEST_CASE("net in training: what is not finite moves nothing") {
  for (const Device device : places()) {
    for (const Real bad :
         {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()}) {
      Subject s(device);
      s.updates(0, 1);
      const OptimizerState state = s.training.fetch();
      const Values before = values(s.net);
      Batch batch = batch_of(0, 2);
      for (std::size_t p = 0; p < batch.values.size(); ++p) {
        const Probe& probe = (*batch.spec)[p];
        if (probe.stage == Stage::kInput && probe.type == Type::kScalar) batch.values[p][0] = bad;
      }
      bool stopped = false;
      try {
        stopped = !std::isfinite(total(s.training.update(batch)));
      } catch (const Error&) {
        stopped = true;  // the gradient's norm
      }
      CHECK(stopped);
      CHECK(s.training.updates() == 1);
      const OptimizerState& after = s.training.fetch();
      CHECK(values(s.net) == before);
      CHECK(after.m == state.m);
      CHECK(after.v == state.v);
    }
  }
}

/// A net whose loss is finite and whose gradient overflows: pi of bfs is decoded by a last layer
/// that is huge, of what is 0 as the layers before it are; their gradients are huge times h.
Values overflowing() {
  Net net = test::net_of_both();
  Parameters& parameters = net.parameters();
  const auto fill = [&](const std::string& name, double value) {
    const Param param = parameters.find(name).param;
    std::fill_n(parameters.at(param), param.shape.size(), static_cast<Real>(value));
  };
  for (const char* layer : {"0/w", "1/w", "2/w"}) fill(std::string("bfs/decode/pi/") + layer, 0);
  fill("bfs/decode/pi/3/w", std::numeric_limits<Real>::max() / 2);
  fill("processor/layer_norm/scale", 1e10);
  return values(net);
}

TEST_CASE("net in training: where the gradient alone is not finite it says what may help") {
  for (const Device device : places()) {
    Subject s(device, kOptions, overflowing());
    const Values before = values(s.net);
    CHECK_THROWS_WITH_AS(
        s.training.update(batch_of(1, 2)),
        doctest::Contains("in update 0: training stopped; a smaller --lr may help"), Error);
    CHECK(s.training.updates() == 0);
    s.training.fetch();
    CHECK(values(s.net) == before);
  }
}

TEST_CASE("net in training: a steady update on the device waits once and allocates nothing") {
  const auto device = test::accelerator();
  if (!device) return;
  NetOptions options = test::small_options();
  for (const bool random : {false, true}) {
    options.lstm = random;
    options.dropout = options.teacher_forcing = random ? 0.5 : 0;
    options.reconstruction = {.method = random ? Method::kRenar : Method::kBaseline,
                              .masks = {.ratio = 0.3}};
    Net net = test::small_net("bfs", options);
    ShardRunner runner(1, *device);
    NetInTraining training(net, runner, kOptions);
    const Batch batch = test::small_batch("bfs", 4, 3);
    for (int u = 0; u < 2; ++u) training.update(batch);
    const DeviceCounts before = device_counts();
    training.update(batch);
    CHECK(device_counts().allocations == before.allocations);
    CHECK(device_counts().waits == before.waits + 1);
  }
}

TEST_CASE("net in training: a steady chunk on the device waits once, too") {
  const auto device = test::accelerator();
  if (!device) return;
  Net net = test::small_net("dfs", test::small_options());
  ShardRunner runner(1, *device);
  NetInTraining training(net, runner, kOptions);
  const Batch chunk =
      test::chunk_of(test::small_batch("dfs", 4, 3), {{0, 0, 0, 3}, {1, 1, 0, 4}, {2, 2, 0, 3}});
  CarriedState carried({}, *device);
  for (int u = 0; u < 2; ++u) training.update(chunk, {}, &carried);
  const DeviceCounts before = device_counts();
  training.update(chunk, {}, &carried);
  CHECK(device_counts().allocations == before.allocations);
  CHECK(device_counts().waits == before.waits + 1);
}

TEST_CASE("net in training: moments of another net are refused") {
  for (const Device device : places()) {
    CHECK_THROWS_AS(Subject(device, kOptions, {}, {1, {0, 0}, {0, 0}}), Error);
  }
}

}  // namespace
}  // namespace renar::net_in_training_test
