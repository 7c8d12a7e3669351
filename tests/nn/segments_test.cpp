// Trajectories in segments: what a budget makes a tape forget, backward computes again to the bit.
#include <doctest/doctest.h>

#include "tests/nn/chunks.h"
#include "tests/nn/small.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::segments_test {
namespace {

constexpr std::size_t kNoLimit = 0, kAStepEach = 1;

struct Recorded {
  Losses losses{};
  std::vector<Real> grads;
  std::size_t bytes = 0;  // of the tape
};

// The batch as one shard.
Recorded record(const Net& net, const Batch& batch, std::size_t budget,
                Lengths lengths = Lengths::kOwn) {
  Recorded result;
  result.grads.resize(static_cast<std::size_t>(net.parameters().size()));
  const LossScales scales = loss_scales(batch);
  ReconstructionScales reconstruction;
  net.count_reconstruction(batch, {}, reconstruction);
  Tape tape;
  tape.poison(true);
  tape.limit(budget);
  tape.start(Tape::Mode::kRecord, net.parameters().values(), result.grads.data());
  net.forward(tape, Samples(batch, {0, batch.size}, lengths),
              {.pass = Net::Pass::kTrain,
               .scales = &scales,
               .reconstruction = &reconstruction,
               .losses = &result.losses});
  tape.backward();
  result.bytes = tape.bytes();
  return result;
}

// With lengths as they are, and with those that a device rounds: what is then kept of the steps
// that make outputs outlives the segments.
void check_budgets(const Net& net, const Batch& batch) {
  const Recorded own = record(net, batch, kNoLimit);
  CHECK(total(own.losses) > 0);
  for (const Lengths lengths : {Lengths::kOwn, Lengths::kRounded}) {
    const Recorded whole = record(net, batch, kNoLimit, lengths);
    CHECK(total(whole.losses) == doctest::Approx(total(own.losses)).epsilon(1e-5));
    test::check_same("gradients", whole.grads, own.grads, test::kFloatBuild ? 1e-4 : 1e-9);
    for (const std::size_t budget : {kAStepEach, whole.bytes / 8, whole.bytes / 4}) {
      CAPTURE(budget);
      const Recorded cut = record(net, batch, budget, lengths);
      CHECK(cut.losses == whole.losses);
      CHECK(cut.grads == whole.grads);
    }
  }
}

TEST_CASE("segments: every probe at every location, samples of many lengths") {
  const Batch batch = test::random_batch(test::every_probe(), 5, {1, 9, 2, 3, 8, 9});
  NetOptions options = test::small_options();
  for (const double forcing : {0.0, 0.5, 1.0}) {
    for (const Repred repred : {Repred::kSoft, Repred::kHard}) {
      options.teacher_forcing = forcing;
      options.hint_repred = repred;
      check_budgets(Net("every", test::every_probe(), options), batch);
    }
  }
}

TEST_CASE("segments: each method, with masks, an LSTM and dropout, and whole edge pointers") {
  const Batch batch = test::random_batch(test::every_probe(), 4, {9, 7, 9});
  for (const Method method : {Method::kBaseline, Method::kRenar, Method::kRenarLinear}) {
    for (const double ratio : {0.0, 0.4}) {
      NetOptions options = test::small_options();
      options.reconstruction = {.method = method, .masks = {.ratio = ratio}};
      options.lstm = ratio > 0;
      options.dropout = options.teacher_forcing = ratio;
      check_budgets(Net("every", test::every_probe(), options), batch);
    }
  }
}

TEST_CASE("segments: each kind of processor, and the plain forms") {
  const Batch batch = test::small_batch("dfs", 5, 3);
  for (const char* kind : {"mpnn", "pgn", "gat", "gatv2_full", "memnet_full", "deepsets"}) {
    CAPTURE(kind);
    check_budgets(test::small_net("dfs", test::small_options(kind)), batch);
  }
  NetOptions plain = test::small_options();
  plain.exact = {.features_as_products = false, .fused_ops = false};
  check_budgets(test::small_net("dfs", plain), batch);
}

Recorded run_within(std::size_t budget, Device device, const Net& net, const Batch& batch,
                    CarriedState* carried = nullptr, Predictions* predictions = nullptr) {
  Recorded result;
  ShardRunner runner(2, device);
  runner.limit_memory(budget);
  if (predictions != nullptr) predictions->prepare(batch);
  result.losses =
      runner.gradients(PlacedNet(net, device), batch, result.grads, {}, predictions, carried);
  return result;
}

TEST_CASE("segments: a budget is kept, but that a step and what all share need what they need") {
  const Batch batch = test::small_batch("dfs", 11, 4);
  const Net net = test::small_net("dfs", test::small_options("triplet_gmpnn", 16));
  const std::size_t whole = record(net, batch, kNoLimit).bytes;
  const std::size_t least = record(net, batch, kAStepEach).bytes;
  CHECK(least * 4 < whole);
  std::size_t last = least;
  for (const std::size_t budget : {whole / 4, whole / 2, whole}) {
    const std::size_t bytes = record(net, batch, budget).bytes;
    CHECK(bytes >= last);
    last = bytes;
  }
  CHECK(last == whole);
}

TEST_CASE("segments: predictions, and parts of trajectories that go on later") {
  const Batch whole = test::small_batch("dfs", 5, 3);
  const int length = *std::min_element(whole.lengths.begin(), whole.lengths.end());
  const Batch chunk = test::chunk_of(whole, {{0, 0, 0, 4}, {1, 1, 0, length - 1}, {2, 2, 0, 3}});
  const Net net = test::small_net("dfs");
  CarriedState carried, carried_cut;
  Predictions predicted, predicted_cut;
  const Recorded all = run_within(kNoLimit, Device::kCpu, net, chunk, &carried, &predicted);
  const Recorded cut =
      run_within(kAStepEach, Device::kCpu, net, chunk, &carried_cut, &predicted_cut);
  CHECK(cut.losses == all.losses);
  CHECK(cut.grads == all.grads);
  CHECK(carried_cut.values() == carried.values());
  CHECK(predicted_cut.values == predicted.values);
}

TEST_CASE("segments: on a device a trajectory is cut alike in memory that grows and in what has" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  const Batch batch = test::small_batch("dfs", 9, 4);
  const Net net = test::small_net("dfs", test::small_options("triplet_gmpnn", 16));
  for (const std::size_t budget : {4750 << 10, 10250 << 10}) {
    ShardRunner runner(1, *device);
    runner.limit_memory(budget);
    const PlacedNet placed(net, *device);
    std::vector<Real> first, second;
    runner.gradients(placed, batch, first);
    runner.gradients(placed, batch, second);
    CHECK(first == second);
  }
}

TEST_CASE("segments: on a device the same but for rounding") {
  const auto device = test::accelerator();
  if (!device) return;
  const Batch batch = test::random_batch(test::every_probe(), 4, {5, 3, 5});
  NetOptions options = test::small_options();
  options.reconstruction = {.method = Method::kRenar, .masks = {.ratio = 0.4}};
  options.lstm = true;
  options.dropout = options.teacher_forcing = 0.5;
  const Net net("every", test::every_probe(), options);
  const Recorded whole = run_within(kNoLimit, *device, net, batch);
  const Recorded cut = run_within(kAStepEach, *device, net, batch);
  CHECK(total(cut.losses) == doctest::Approx(total(whole.losses)).epsilon(1e-6));
  test::check_same("gradients", cut.grads, whole.grads, test::kFloatBuild ? 1e-4 : 1e-9);
}

}  // namespace
}  // namespace renar::segments_test
