// Updates whose launches come again (core/launch_graphs.h): another batch whose samples have the
// same rounded lengths plays what was recorded, whatever its own lengths, its truths, its masks and
// its noise are.
//
// A GPU plays a graph, fibers their own recording; these compare, too, that all which the update
// would have given to its launches by value is what was recorded, to the bit.
#include <doctest/doctest.h>

#include "tests/nn/chunks.h"
#include "tests/nn/small.h"
#include "tests/support_device.h"
#include "trainer/net_in_training.h"

namespace renar::played_updates_test {
namespace {

constexpr int kUpdates = 4;

struct Update {
  Losses losses{};
  std::vector<Real> grads;
};

Update run_update(ShardRunner& runner, const PlacedNet& net, const Batch& batch, int update) {
  Update result;
  result.losses = runner.gradients(net, batch, result.grads, {.update = update});
  return result;
}

/// Every kind of probe, some masked out at random: another truth in every update, and other
/// lengths. In each the longest sample has 4 frames and the third, which begins the second half, 3.
Batch batch_of(int update) {
  const std::vector<int> lengths[] = {
      {4, 2, 4, 3}, {3, 3, 4, 1}, {1, 3, 4, 3}, {4, 3, 4, 3}, {2, 4, 3, 3}};
  return test::random_batch(test::every_probe(), 3, lengths[update % 5],
                            static_cast<std::uint32_t>(update));
}

// The first two are launched, the third is recorded and played, the fourth is played; these have
// the bits of others that were launched, in whatever order their lanes allow.
void check_played(const NetOptions& options, Device device, std::size_t budget,
                  Batch (*batch_of)(int) = batch_of) {
  const Net net("every", test::every_probe(), options);
  const PlacedNet placed(net, device);
  ShardRunner playing(1, device);
  playing.limit_memory(budget);
  for (int update = 0; update < kUpdates; ++update) {
    CAPTURE(update);
    const Batch batch = batch_of(update);
    const Update got = [&] {
      const test::FiberOrder order(update);
      return run_update(playing, placed, batch, update);
    }();
    if (update < 2) continue;  // was launched, too
    ShardRunner launching(1, device);
    launching.limit_memory(budget);
    const Update want = run_update(launching, placed, batch, update);
    CHECK(got.losses == want.losses);
    CHECK(got.grads == want.grads);
    CHECK(launching.updates_played() == 0);
  }
  // What the tape allocated for the first is one block from the second on, so that has other
  // addresses.
  CHECK(playing.updates_played() == kUpdates - 2);
}

TEST_CASE("played updates: another batch plays what was recorded, by every method" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  for (const Method method : {Method::kBaseline, Method::kRenar, Method::kRenarLinear}) {
    if (test::kSanitized && method != Method::kRenar) continue;  // which has what the others have
    CAPTURE(static_cast<int>(method));
    NetOptions options = test::small_options();
    options.reconstruction.method = method;
    check_played(options, *device, 0);
  }
}

TEST_CASE("played updates: other masks and other noise do, too, and segments" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  for (const Masking masking : {Masking::kPaper, Masking::kAuthors}) {
    CAPTURE(static_cast<int>(masking));
    NetOptions options = test::small_options();
    options.reconstruction = {.method = Method::kRenar, .masks = {masking, 0.4}};
    options.lstm = true;
    options.dropout = options.teacher_forcing = 0.5;
    check_played(options, *device, masking == Masking::kAuthors ? 1 : 0);
  }
}

TEST_CASE("played updates: long trajectories, some of which stop before their rounded length" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  NetOptions options = test::small_options();
  options.hint_repred = Repred::kHard;
  options.teacher_forcing = 0.5;                      // reads frames that are not there
  check_played(options, *device, 0, [](int update) {  // 18 steps and 8
    const std::vector<int> lengths[] = {
        {18, 7, 9, 18}, {8, 19, 1, 9}, {19, 19, 3, 9}, {9, 18, 8, 5}};
    return test::random_batch(test::every_probe(), 2, lengths[update],
                              static_cast<std::uint32_t>(update));
  });
}

// That start anew: what is carried on is not recorded.
TEST_CASE("played updates: chunks of as many parts that stop at the same steps") {
  const auto device = test::accelerator();
  if (!device) return;
  check_played(test::small_options(), *device, 0, [](int update) {
    const Batch whole =
        test::random_batch(test::every_probe(), 3, {6, 6, 5}, static_cast<std::uint32_t>(update));
    return update % 2 == 0 ? test::chunk_of(whole, {{0, 0, 0, 4}, {1, 1, 3, 6}, {2, 2, 0, 2}})
                           : test::chunk_of(whole, {{2, 0, 2, 5}, {0, 2, 1, 4}, {1, 1, 0, 2}});
  });
}

TEST_CASE("played updates: parts of trajectories do not play what whole ones have recorded" *
          doctest::skip(test::kSanitized)) {
  const auto device = test::accelerator();
  if (!device) return;
  const Net net("every", test::every_probe(), test::small_options());
  const PlacedNet placed(net, *device);
  ShardRunner playing(1, *device);
  for (int update = 0; update < 7; ++update) {  // the first has other addresses
    const Batch whole = test::random_batch(test::every_probe(), 3, {4, 4});
    const Batch parts = test::chunk_of(whole, {{0, 0, 0, 4}, {1, 1, 0, 4}});
    const Batch& batch = update % 2 == 0 ? whole : parts;
    ShardRunner launching(1, *device);
    const Update got = run_update(playing, placed, batch, update);
    CHECK(got.grads == run_update(launching, placed, batch, update).grads);
  }
  CHECK(playing.updates_played() >= 3);
}

TEST_CASE("played updates: the losses of those that are played are scaled by other numbers") {
  NetOptions options = test::small_options();
  options.reconstruction = {.method = Method::kRenar, .masks = {.ratio = 0.4}};
  const Net net("every", test::every_probe(), options);
  ReconstructionScales one, other;
  net.count_reconstruction(batch_of(2), {.update = 2}, one);
  net.count_reconstruction(batch_of(3), {.update = 3}, other);
  CHECK(one.all() != other.all());
  CHECK(loss_scales(batch_of(2)) != loss_scales(batch_of(3)));
}

TEST_CASE("played updates: those of training go as on the CPU") {
  const auto device = test::accelerator();
  if (!device) return;
  NetOptions options = test::small_options();
  options.reconstruction = {.method = Method::kRenar, .masks = {.ratio = 0.4}};
  std::vector<double> losses[2];
  for (const Device on : {Device::kCpu, *device}) {
    Net net("every", test::every_probe(), options);
    ShardRunner runner(1, on);
    NetInTraining training(net, runner, {.learning_rate = 1e-3, .clip = 1});
    for (int update = 0; update < 5; ++update) {
      losses[on != Device::kCpu].push_back(
          total(training.update(batch_of(update), {.update = update})));
    }
    CHECK(runner.updates_played() == (on == Device::kCpu ? 0 : 3));
  }
  for (std::size_t u = 0; u < losses[0].size(); ++u) {
    CHECK(losses[1][u] == doctest::Approx(losses[0][u]).epsilon(test::kFloatBuild ? 1e-3 : 1e-8));
  }
}

}  // namespace
}  // namespace renar::played_updates_test
