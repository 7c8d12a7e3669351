// Trajectories in parts: with the state carried they are what the whole ones are, forward;
// gradients stop at a part's first step; one chunk needs the memory of its own steps alone.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/check.h"
#include "tests/nn/chunks.h"
#include "tests/nn/compare_runs.h"
#include "tests/support.h"

namespace renar::net_chunk_test {
namespace {

using test::check_same;
using test::chunk_of;
using test::Cut;
using test::every_probe;
using test::random_batch;
using test::small_batch;
using test::small_options;

/// Every sample in a slot of its own: the cuts of frames [begin, begin + frames).
std::vector<Cut> cuts_at(const Batch& whole, int begin, int frames) {
  std::vector<Cut> cuts;
  for (std::int64_t b = 0; b < whole.size; ++b) {
    const int length = whole.lengths[static_cast<std::size_t>(b)];
    const int end = std::min(length, begin + frames);
    if (begin < length && (end > 1 || length == 1)) cuts.push_back({b, b, begin, end});
  }
  return cuts;
}

struct ChunkRun {
  Losses losses;
  std::vector<Real> grads;
  Predictions predictions{.hints = Predictions::Hints::kLogits, .values = {}};
};

/// Training without noise: the predictions are those of evaluation.
ChunkRun run_chunk(const Net& net, const Batch& chunk, CarriedState* carried, int threads = 1) {
  ChunkRun run;
  ShardRunner runner(threads);
  run.predictions.prepare(chunk);
  const std::vector<Real> none(static_cast<std::size_t>(chunk.size * chunk.nodes * chunk.nodes));
  run.losses =
      runner.gradients(net, chunk, run.grads, {.fixed = none.data()}, &run.predictions, carried);
  return run;
}

std::vector<Real> logits(const Predictions& of, const Batch& batch, std::size_t p, std::int64_t t,
                         std::int64_t sample) {
  const Real* from = of.at(batch, p, t, sample);
  return {from, from + logits_per_sample(batch, p)};
}

void check_cut(const Batch& whole, const NetOptions& options, int frames) {
  const Net net("x", *whole.spec, options);
  const ChunkRun want = run_chunk(net, whole, nullptr);
  const LossScales whole_scales = loss_scales(whole);
  std::array<double, kMaxProbes> lost{}, counted{};
  CarriedState carried;
  for (int begin = 0; begin < whole.frames; begin += frames) {
    const std::vector<Cut> cuts = cuts_at(whole, begin, frames);
    if (cuts.empty()) continue;
    Batch chunk = chunk_of(whole, cuts);
    chunk.slots = whole.size;
    const ChunkRun got = run_chunk(net, chunk, &carried);
    const LossScales scales = loss_scales(chunk);
    for (std::size_t p = 0; p < whole.spec->size(); ++p) {
      const Stage stage = (*whole.spec)[p].stage;
      if (scales[p] > 0) {
        counted[p] += 1 / double{scales[p]};
        lost[p] += got.losses[p] / double{scales[p]};
      }
      for (std::int64_t k = 0; k < chunk.size && stage != Stage::kInput; ++k) {
        const Cut& cut = cuts[static_cast<std::size_t>(k)];
        const int first = std::max(cut.begin - 1, 0);
        const std::int64_t steps = steps_of(cut.end - first);
        for (std::int64_t t = 0; t < (stage == Stage::kHint ? steps : 1); ++t) {
          if (stage == Stage::kOutput && !chunk.ends(k)) continue;
          if (stage == Stage::kHint && !predicts_hints(options.hints)) continue;
          check_same("a step", logits(got.predictions, chunk, p, t, k),
                     logits(want.predictions, whole, p, first + t, cut.sample));
        }
      }
    }
  }
  for (std::size_t p = 0; p < whole.spec->size(); ++p) {
    CAPTURE((*whole.spec)[p].name);
    const double every = whole_scales[p] > 0 ? 1 / double{whole_scales[p]} : 0;
    CHECK(counted[p] == doctest::Approx(every).epsilon(1e-6));  // each step counts once
    CHECK(lost[p] == doctest::Approx(every * want.losses[p]).epsilon(10 * test::kRounding));
  }
}

TEST_CASE("net: a trajectory in parts with its state carried is the whole one, each step once") {
  const Batch dfs = small_batch("dfs", 4, 3), bfs = small_batch("bfs", 6, 5, {0.0, 0.2, 0.9});
  REQUIRE(dfs.frames > 8);
  for (const int frames : {2, 3, 5, 100}) {
    CAPTURE(frames);
    check_cut(dfs, small_options(), frames);
    check_cut(bfs, small_options("triplet_gpgn_mask"), frames);
    check_cut(random_batch(every_probe(), 3, {7, 1, 2, 4, 5}), small_options(), frames);
  }
  NetOptions options = small_options();
  options.lstm = true;
  check_cut(dfs, options, 3);
  options.hint_repred = Repred::kHard;
  check_cut(dfs, options, 3);
  options.teacher_forcing = 1;
  check_cut(dfs, options, 3);
  options.teacher_forcing = 0;
  for (const HintMode mode : {HintMode::kDecodedOnly, HintMode::kNone}) {
    options.hints = mode;
    check_cut(dfs, options, 3);
  }
}

TEST_CASE("net: a chunk of whole trajectories has their losses and gradients, to the bit") {
  const Batch whole = small_batch("dfs", 4, 5);
  const Net net = test::small_net("dfs");
  const Batch chunk = chunk_of(whole, cuts_at(whole, 0, whole.frames));
  CarriedState carried;
  const ChunkRun got = run_chunk(net, chunk, &carried), want = run_chunk(net, whole, nullptr);
  CHECK(got.losses == want.losses);
  CHECK(got.grads == want.grads);
  const std::vector<Real> left = carried.values();
  CHECK(std::count(left.begin(), left.end(), Real{0}) == std::ssize(left));
}

TEST_CASE("net: a part that starts anew predicts something else than one that goes on") {
  const Batch whole = small_batch("dfs", 4, 3);
  const Net net = test::small_net("dfs");
  CarriedState carried;
  run_chunk(net, chunk_of(whole, cuts_at(whole, 0, 4)), &carried);
  const Batch second = chunk_of(whole, cuts_at(whole, 4, 4));
  const ChunkRun anew = run_chunk(net, second, nullptr), on = run_chunk(net, second, &carried);
  const std::size_t pi = net.spec().index_of("pi_h");
  CHECK(on.predictions.values[pi] != anew.predictions.values[pi]);
  CHECK(on.losses[pi] != anew.losses[pi]);
}

/// Three slots: one goes on, ends and begins the next; one goes on and stops; one begins and stops.
Batch mixed_chunk(const Batch& whole) {
  const int end = whole.lengths[0];
  return chunk_of(whole, {{0, 0, end - 2, end}, {1, 0, 0, 3}, {2, 1, 3, 7}, {3, 2, 0, 4}});
}

std::vector<Real> random_state(const Batch& chunk, const NetOptions& options) {
  const Net net("x", *chunk.spec, options);
  std::int64_t width = 0;
  for (const std::int64_t each : net.carried_widths(0, chunk.nodes)) width += each;
  return test::random_values(chunk.slots * width, 4);
}

TEST_CASE("net: a chunk has the same bits on any number of threads, what it leaves included") {
  const Batch chunk = mixed_chunk(small_batch("dfs", 9, 4));
  REQUIRE(chunk.shards.size() > 1);
  const Net net = test::small_net("dfs");
  const std::vector<Real> start = random_state(chunk, net.options());
  CarriedState one(start), two(start), three(start);
  const ChunkRun want = run_chunk(net, chunk, &one), got = run_chunk(net, chunk, &two, 2);
  CHECK(got.grads == want.grads);
  CHECK(got.losses == want.losses);
  CHECK(two.values() == one.values());
  run_chunk(net, chunk, &three, 3);
  CHECK(three.values() == one.values());
}

TEST_CASE("net: gradients of a chunk agree with differences" * doctest::skip(test::kFloatBuild)) {
  NetOptions options = small_options("triplet_gmpnn", 4);
  const Batch dfs = mixed_chunk(small_batch("dfs", 3, 4));
  test::check_with_differences(dfs, options, random_state(dfs, options));
  options.lstm = true;
  options.dropout = 0.3;
  test::check_with_differences(dfs, options, random_state(dfs, options));
  const Batch any = mixed_chunk(random_batch(every_probe(), 3, {6, 5, 8, 7}));
  test::check_with_differences(any, small_options("pgn_mask", 4),
                               random_state(any, small_options("pgn_mask", 4)));
}

TEST_CASE("net: a chunk of a long trajectory needs the memory of its own steps alone") {
  const Batch whole = small_batch("dfs", 16, 1);
  REQUIRE(whole.frames > 40);
  const Net net = test::small_net("dfs", small_options("triplet_gmpnn", 64));
  const auto bytes = [&](const Batch& batch) {
    Tape tape;
    std::vector<Real> grads(static_cast<std::size_t>(net.parameters().size()));
    const LossScales scales = loss_scales(batch);
    Losses losses;
    tape.start(Tape::Mode::kRecord, net.parameters().values(), grads.data());
    net.forward(tape, Samples(batch, batch.shards[0]),
                {.pass = Net::Pass::kTrain, .scales = &scales, .losses = &losses});
    tape.backward();
    return tape.bytes();
  };
  CHECK(bytes(chunk_of(whole, {{0, 0, 8, 16}})) < bytes(whole) / 3);
}

TEST_CASE("net: reconstruction refuses parts of trajectories") {
  NetOptions options = small_options();
  options.reconstruction.method = Method::kRenar;
  const Batch whole = small_batch("dfs", 4, 2);
  const Net net = test::small_net("dfs", options);
  CarriedState carried;
  CHECK_THROWS_WITH_AS(run_chunk(net, chunk_of(whole, cuts_at(whole, 0, 3)), &carried),
                       doctest::Contains("needs whole ones"), Error);
}

}  // namespace
}  // namespace renar::net_chunk_test
