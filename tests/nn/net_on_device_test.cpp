// The whole net with its kernels beside the whole net on the CPU: every kind of probe, every
// method, twenty updates.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/simt.h"
#include "core/simt_touched.h"
#include "tests/nn/small.h"
#include "tests/support_device.h"
#include "trainer/net_in_training.h"

namespace renar::net_on_device_test {
namespace {

using test::Run;

/// As test::run on one thread of the CPU, but on the device.
Run run_on(Device device, const Net& net, const Batch& batch, std::size_t budget = 0) {
  Run result;
  ShardRunner runner(1, device);
  runner.limit_memory(budget);
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

// Rounded lengths: of 4, 4, 3 and 2, 1 frames the third and the last go on for a step.
TEST_CASE("net on a device: every probe by each method, samples that go on when they are over") {
  const auto device = test::accelerator();
  if (!device) return;
  const Batch batch = test::random_batch(test::every_probe(), 4, {1, 4, 2, 3, 4});
  for (const Masking masking : {Masking::kPaper, Masking::kAuthors}) {
    for (const Method method : {Method::kRenar, Method::kRenarLinear}) {
      for (const double share : {0.0, 0.4}) {
        if (share == 0 && masking == Masking::kAuthors) continue;
        NetOptions options = test::small_options();
        options.reconstruction = {.method = method, .masks = {masking, share}};
        options.lstm = share > 0;
        options.dropout = options.teacher_forcing = share;
        const Net net("every", test::every_probe(), options);
        check_alike(run_on(*device, net, batch), test::run(net, batch), kAlike);
      }
    }
  }
}

TEST_CASE("net on a device: what outputs read is kept by each kind of processor, in segments too" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  const Batch batch = test::random_batch(test::every_probe(), 3, {1, 3, 2, 4});
  for (const char* kind : {"triplet_pgn_mask", "pgn_mask", "gat", "memnet_masked", "deepsets"}) {
    CAPTURE(kind);
    Net net("every", test::every_probe(), test::small_options(kind));
    test::fill_embeddings(net.parameters());
    const Run want = test::run(net, batch);
    check_alike(run_on(*device, net, batch), want, kAlike);
    check_alike(run_on(*device, net, batch, 1), want, kAlike);
  }
}

TEST_CASE("net on a device: long trajectories, whose rounded lengths have no frames at their end") {
  const auto device = test::accelerator();
  if (!device) return;
  const Batch batch = test::random_batch(test::every_probe(), 2, {18, 7, 2, 16});  // 18 steps, 6
  NetOptions options = test::small_options();
  options.teacher_forcing = 0.5;
  options.reconstruction.method = Method::kRenar;
  const Net net("every", test::every_probe(), options);
  check_alike(run_on(*device, net, batch), test::run(net, batch), kAlike);
}

TEST_CASE("net on a device: what stands beyond a sample's end changes no bit") {
  const auto device = test::accelerator();
  if (!device) return;
  const Batch batch = test::random_batch(test::every_probe(), 3, {1, 4, 2, 3, 4});
  const Batch other = test::random_batch(test::every_probe(), 3, {1, 4, 2, 3, 4}, 1);
  Batch changed = batch;
  for (std::size_t p = 0; p < batch.spec->size(); ++p) {
    if ((*batch.spec)[p].stage != Stage::kHint) continue;
    for (std::int64_t b = 0; b < batch.size; ++b) {
      for (std::int64_t t = batch.lengths[static_cast<std::size_t>(b)]; t < batch.frames; ++t) {
        const std::int64_t at = batch.at(p, t, b) - batch.values[p].data();
        std::copy_n(other.at(p, t, b), batch.stride(p), changed.values[p].begin() + at);
      }
    }
  }
  for (const double share : {0.0, 0.4}) {
    NetOptions options = test::small_options();
    options.reconstruction = {.method = Method::kRenar, .masks = {.ratio = share}};
    options.teacher_forcing = 0.5;
    const Net net("every", test::every_probe(), options);
    const Run want = run_on(*device, net, batch), got = run_on(*device, net, changed);
    CHECK(got.losses == want.losses);
    CHECK(got.grads == want.grads);
    CHECK(got.trained.values == want.trained.values);
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

// So launches that wait, too, may be started in any order that they allow (core/collected.h).
void check_schedules(const Net& net, const Batch& batch) {
  const Run first = run_on(Device::kSimt, net, batch);
  const auto check_same_bits = [&] {
    const Run other = run_on(Device::kSimt, net, batch);
    CHECK(other.losses == first.losses);
    CHECK(other.grads == first.grads);
    CHECK(other.trained.values == first.trained.values);
    CHECK(other.evaluated.values == first.evaluated.values);
  };
  for (const simt::Order order : {simt::Order::kReverse, simt::Order::kRandom}) {
    simt::set_schedule({order, 5});
    check_same_bits();
    simt::set_schedule({});
  }
  simt::watch_touched(true);
  CHECK_NOTHROW(check_same_bits());
  simt::watch_touched(false);
}

TEST_CASE("net on a device: the same bits under any schedule, and kernels say what they touch") {
  if (built_with_cuda()) return;
  check_schedules(test::small_net("bfs"), test::small_batch("bfs", 4, 3));
  if (test::kSanitized) return;
  const Batch batch = test::random_batch(test::every_probe(), 3, {1, 4, 2});
  for (const Method method : {Method::kBaseline, Method::kRenar}) {
    NetOptions options = test::small_options();
    options.reconstruction = {.method = method, .masks = {Masking::kPaper, 0.4}};
    options.lstm = true;
    options.dropout = options.teacher_forcing = 0.4;
    check_schedules(Net("every", test::every_probe(), options), batch);
  }
  for (const char* kind : {"triplet_pgn_mask", "gat", "memnet_masked"}) {
    CAPTURE(kind);
    Net net("every", test::every_probe(), test::small_options(kind));
    test::fill_embeddings(net.parameters());
    check_schedules(net, batch);
  }
}

constexpr int kUpdates = 20;

std::vector<double> losses_of_updates(Device device, Precision precision = Precision::kFp32) {
  std::vector<double> losses;
  Net net = test::small_net("bfs");
  ShardRunner runner(1, device, precision);
  NetInTraining training(net, runner, {.learning_rate = 1e-3, .clip = 1.0});
  for (int update = 0; update < kUpdates; ++update) {
    const Batch batch = test::small_batch("bfs", 3 + update % 3, 3, test::kAnyGraph,
                                          static_cast<std::uint32_t>(update + 1));
    losses.push_back(total(training.update(batch, {.update = update})));
  }
  return losses;
}

TEST_CASE("net on a device: twenty updates go as on the CPU") {
  const auto device = test::accelerator();
  if (!device) return;
  const std::vector<double> want = losses_of_updates(Device::kCpu),
                            got = losses_of_updates(*device);
  CHECK(want[0] != want[kUpdates - 1]);
  for (std::size_t u = 0; u < kUpdates; ++u) {
    CHECK(got[u] == doctest::Approx(want[u]).epsilon(test::kFloatBuild ? 1e-3 : 1e-8));
  }
}

// A factor errs by at most u, a product by 2u: a loss that is further off would have errors that
// add up where those of a sum should cancel. On fibers the losses are off by 0.4 u at most.
TEST_CASE("net on a device: twenty updates in tf32 and bf16 stay near those in fp32" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  const std::vector<double> want = losses_of_updates(Device::kCpu);
  for (const Precision precision : {Precision::kTf32, Precision::kBf16}) {
    const double u = precision == Precision::kTf32 ? 0x1p-11 : 0x1p-8;
    const std::vector<double> got = losses_of_updates(*device, precision);
    double most = 0;
    for (std::size_t k = 0; k < kUpdates; ++k) {
      most = std::max(most, std::abs(got[k] / want[k] - 1));
      CHECK(std::isfinite(got[k]));
    }
    CAPTURE(name_of(precision));
    CHECK(most < 2 * u);
    CHECK(most > u / 16);  // or the products were not rounded
  }
}

TEST_CASE("net on a device: a batch of predictions is waited for once, and so are all its hints") {
  const auto device = test::accelerator();
  if (!device) return;
  const Net net = test::small_net("dfs", test::small_options());
  const PlacedNet placed(net, *device);
  ShardRunner runner(1, *device);
  const Batch batch = test::small_batch("dfs", 5, 3);
  for (const auto hints : {Predictions::Hints::kNone, Predictions::Hints::kChoices}) {
    Predictions predictions;
    predictions.hints = hints;
    runner.predict(placed, batch, predictions);
    const DeviceCounts before = device_counts();
    runner.predict(placed, batch, predictions);
    CHECK(device_counts().waits == before.waits + 1);
    CHECK(device_counts().allocations == before.allocations);
  }
}

TEST_CASE("net on a device: the CPU has no precision but fp32") {
  CHECK_THROWS_AS(ShardRunner(1, Device::kCpu, Precision::kTf32), Error);
}

}  // namespace
}  // namespace renar::net_on_device_test
