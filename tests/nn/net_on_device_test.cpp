// The whole net with its kernels beside the whole net on the CPU: every kind of probe, every
// method, twenty updates.
#include <doctest/doctest.h>

#include "core/simt.h"
#include "tests/nn/small.h"
#include "tests/support_device.h"
#include "trainer/net_in_training.h"

namespace renar {
namespace {

using test::Run;

/// As test::run on one thread of the CPU, but on the device.
Run run_on(Device device, const Net& net, const Batch& batch) {
  Run result;
  ShardRunner runner(1, device);
  const PlacedNet placed(net, device);
  result.trained.prepare(batch);
  result.losses = runner.gradients(placed, batch, result.grads, {}, &result.trained);
  runner.predict(placed, batch, result.evaluated);
  return result;
}

void check_alike(const Run& got, const Run& want, double tolerance) {
  CHECK(total(got.losses) == doctest::Approx(total(want.losses)).epsilon(tolerance));
  test::check_same("gradients", got.grads, want.grads, tolerance);
  for (std::size_t p = 0; p < want.trained.values.size(); ++p) {
    test::check_same("predictions", got.trained.values[p], want.trained.values[p], tolerance);
    test::check_same("evaluated", got.evaluated.values[p], want.evaluated.values[p], tolerance);
  }
}

constexpr double kAlike = test::kFloatBuild ? 1e-4 : 1e-9;

TEST_CASE("net on a device: every probe at every location, samples of many lengths") {
  const auto device = test::accelerator();
  if (!device) return;
  NetOptions options = test::small_options();
  for (const double forcing : {0.0, 0.5, 1.0}) {
    options.teacher_forcing = forcing;
    const Net net("every", test::every_probe(), options);
    const Batch batch = test::random_batch(test::every_probe(), 5, {1, 4, 2, 3, 4});
    check_alike(run_on(*device, net, batch), test::run(net, batch), kAlike);
  }
}

TEST_CASE("net on a device: each method, with masks, an LSTM and dropout") {
  const auto device = test::accelerator();
  if (!device) return;
  for (const Method method : {Method::kBaseline, Method::kRenar, Method::kRenarLinear}) {
    for (const double ratio : {0.0, 0.4}) {
      NetOptions options = test::small_options();
      options.reconstruction.method = method;
      options.reconstruction.masks.ratio = ratio;
      options.lstm = ratio > 0;
      options.dropout = ratio;
      const Net net = test::small_net("bfs", options);
      const Batch batch = test::small_batch("bfs", 6, 4);
      check_alike(run_on(*device, net, batch), test::run(net, batch), kAlike);
    }
  }
}

TEST_CASE("net on a device: the same bits under any schedule") {
  if (built_with_cuda()) return;
  const Net net = test::small_net("bfs");
  const Batch batch = test::small_batch("bfs", 4, 3);
  const Run first = run_on(Device::kSimt, net, batch);
  for (const simt::Order order : {simt::Order::kReverse, simt::Order::kRandom}) {
    simt::set_schedule({order, 5});
    const Run other = run_on(Device::kSimt, net, batch);
    simt::set_schedule({});
    CHECK(other.losses == first.losses);
    CHECK(other.grads == first.grads);
    CHECK(other.evaluated.values == first.evaluated.values);
  }
}

TEST_CASE("net on a device: twenty updates go as on the CPU") {
  const auto device = test::accelerator();
  if (!device) return;
  constexpr int kUpdates = 20;
  const Device devices[] = {Device::kCpu, *device};
  std::vector<double> losses[2];
  for (int d = 0; d < 2; ++d) {
    Net net = test::small_net("bfs");
    ShardRunner runner(1, devices[d]);
    NetInTraining training(net, runner, {.learning_rate = 1e-3, .clip = 1.0});
    for (int update = 0; update < kUpdates; ++update) {
      const Batch batch = test::small_batch("bfs", 3 + update % 3, 3, test::kAnyGraph,
                                            static_cast<std::uint32_t>(update + 1));
      losses[d].push_back(total(training.update(batch, {.update = update})));
    }
  }
  CHECK(losses[0][0] != losses[0][kUpdates - 1]);
  for (std::size_t u = 0; u < kUpdates; ++u) {
    CHECK(losses[1][u] == doctest::Approx(losses[0][u]).epsilon(test::kFloatBuild ? 1e-3 : 1e-8));
  }
}

}  // namespace
}  // namespace renar
