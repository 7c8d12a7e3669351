// What rounds hide: how many pairs, which ones, of whom, and that each round, step, sample and
// update hides others.
#include "nn/hint_masks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "core/check.h"
#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::hint_masks_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes draw(const HintMasks& masks, const NoiseKey& key = {}, std::int64_t sample = 0,
           std::int64_t step = 0, int task = 0, std::uint64_t seed = 1) {
  Bytes hidden(static_cast<std::size_t>(masks.rounds() * masks.parts()), 7);
  masks.draw(seed, key, task, sample, step, hidden.data());
  return hidden;
}

TEST_CASE("hint_masks: the rounds of each ratio") {
  const auto rounds = [](double ratio, Masking masking, int asked = 0) {
    return rounds_of({.masking = masking, .ratio = ratio, .rounds = asked});
  };
  const double ratios[] = {0, 0.1, 0.3, 0.5, 0.7, 0.9};
  const int paper[] = {1, 10, 3, 2, 1, 1}, authors[] = {1, 3, 3, 2, 1, 1};
  for (std::size_t i = 0; i < std::size(ratios); ++i) {
    CHECK(rounds(ratios[i], Masking::kPaper) == paper[i]);
    CHECK(rounds(ratios[i], Masking::kAuthors) == authors[i]);
  }
  CHECK(rounds(0.1, Masking::kAuthors, 7) == 7);
  CHECK(rounds(1.0 / 49, Masking::kPaper) == 49);
  CHECK(rounds(kLeastMaskRatio, Masking::kPaper) == 1000);
  CHECK(rounds(0, Masking::kPaper, 7) == 1);  // they would all read the same
  for (const double ratio : {-0.1, 1e-12, 1.0}) {
    CHECK_THROWS_AS(rounds(ratio, Masking::kPaper), Error);
  }
}

TEST_CASE("hint_masks: paper masking hides exactly floor(beta k N) pairs of node-level hints") {
  for (const std::string algo : {"dfs", "bfs", "floyd_warshall", "kmp_matcher"}) {
    const Spec spec = find_algorithm(algo).spec();
    for (const int nodes : {1, 2, 5, 16}) {
      std::int64_t hints = 0;
      for (const Probe& probe : spec) {
        hints += probe.stage == Stage::kHint && probe.location == Location::kNode;
      }
      for (const double ratio : {0.1, 0.29, 0.3, 0.5, 0.7, 0.9}) {
        const HintMasks masks(spec, nodes, {.ratio = ratio});
        CHECK(masks.parts() == hints * nodes);
        const Bytes hidden = draw(masks);
        const auto want = static_cast<int>(ratio * static_cast<double>(hints * nodes) + 1e-9);
        for (int j = 0; j < masks.rounds(); ++j) {
          const auto* round = hidden.data() + j * masks.parts();
          CHECK(std::accumulate(round, round + masks.parts(), 0) == want);
        }
      }
      for (std::size_t p = 0; p < spec.size(); ++p) {
        const HintMasks masks(spec, nodes, {.ratio = 0.5});
        const bool can = spec[p].stage == Stage::kHint && spec[p].location == Location::kNode;
        CHECK(masks.of(p).empty() != can);
      }
    }
  }
}

TEST_CASE("hint_masks: nothing is hidden at ratio 0; a ratio outside [0, 1) is refused") {
  const Spec spec = find_algorithm("dfs").spec();
  const HintMasks masks(spec, 5, {});
  CHECK(masks.parts() == 0);
  for (std::size_t p = 0; p < spec.size(); ++p) CHECK(masks.of(p).empty());
  CHECK_THROWS_AS(HintMasks(spec, 5, {.ratio = 1}), Error);
  CHECK_THROWS_AS(HintMasks(spec, 5, {.ratio = -0.1}), Error);
}

TEST_CASE("hint_masks: each round, step, sample, update, task and seed hides other pairs") {
  const HintMasks masks(find_algorithm("dfs").spec(), 16, {.ratio = 0.3});
  const Bytes first = draw(masks);
  CHECK(draw(masks) == first);
  const Bytes others[] = {draw(masks, {}, 1), draw(masks, {}, 0, 1), draw(masks, {.update = 1}),
                          draw(masks, {}, 0, 0, 1), draw(masks, {}, 0, 0, 0, 2)};
  for (const Bytes& other : others) CHECK(other != first);
  const auto round = [&](int j) { return first.begin() + j * masks.parts(); };
  REQUIRE(masks.rounds() == 3);
  CHECK(!std::equal(round(0), round(1), round(1)));
  CHECK(!std::equal(round(0), round(1), round(2)));
  CHECK(!std::equal(round(1), round(2), round(2)));
}

/// The share of steps in which each part is hidden.
std::vector<double> frequencies(const HintMasks& masks, int steps) {
  std::vector<double> share(static_cast<std::size_t>(masks.parts()));
  for (int step = 0; step < steps; ++step) {
    const Bytes hidden = draw(masks, {}, 0, step);
    for (std::size_t i = 0; i < share.size(); ++i) share[i] += hidden[i] / double(steps);
  }
  return share;
}

TEST_CASE("hint_masks: every part is hidden as often as the ratio says") {
  const Spec spec = find_algorithm("bfs").spec();
  for (const Masking masking : {Masking::kPaper, Masking::kAuthors}) {
    const HintMasks masks(spec, 5, {.masking = masking, .ratio = 0.3});
    // 4000 draws of 0.3 (paper: 3 of 10) lie within 0.05 of it but once in 10^11.
    for (const double share : frequencies(masks, 4000))
      CHECK(share == doctest::Approx(0.3).epsilon(0.16));
  }
}

TEST_CASE("hint_masks: the authors hide single numbers of node-level inputs and hints") {
  const Spec spec = find_algorithm("bfs").spec();  // pos, s, reach_h and pi_h; A and adj are edges'
  const HintMasks masks(spec, 5, {.masking = Masking::kAuthors, .ratio = 0.5});
  CHECK(masks.parts() == 5 + 5 + 5 + 25);
  CHECK(masks.of(spec.index_of("A")).empty());
  CHECK(masks.of(spec.index_of("pi_h")).width == 1);
}

TEST_CASE("hint_masks: a shard's masks hide whole rows of pointers and classes") {
  const Batch batch = test::small_batch("dfs", 5, 3);
  const Spec& spec = *batch.spec;
  const HintMasks masks(spec, 5, {.ratio = 0.3});
  Tape tape;
  tape.start(Tape::Mode::kPredict, nullptr, nullptr);
  const Samples samples(batch, batch.shards[0]);
  const ShardMasks shard(tape, masks, 1, {}, samples, samples.size(), 0);
  const std::size_t pi = spec.index_of("pi_h"), color = spec.index_of("color");
  CHECK(!shard.of(0, spec.index_of("A")));
  for (const auto& [p, width] : {std::pair<std::size_t, int>{pi, 5}, {color, 3}}) {
    const Tensor hidden = shard.of(1, p);
    CHECK(hidden.shape == Shape{samples.size(), 5, width});
    for (std::int64_t k = 0; k < samples.size(); ++k) {
      const Bytes bytes = draw(masks, {}, samples.index(k));
      for (std::int64_t v = 0; v < 5; ++v) {
        const Real want = bytes[static_cast<std::size_t>(masks.parts() + masks.of(p).begin + v)];
        for (int c = 0; c < width; ++c) CHECK(hidden.data[(k * 5 + v) * width + c] == want);
      }
    }
  }
}

TEST_CASE("hint_masks: fixed masks are taken as they are, and must be large enough") {
  const Spec spec = find_algorithm("bfs").spec();
  const HintMasks masks(spec, 2, {.masking = Masking::kAuthors, .ratio = 0.5, .rounds = 1});
  FixedMasks fixed(1, std::vector<std::vector<Real>>(spec.size()));
  for (std::size_t p = 0; p < spec.size(); ++p) {
    const HintMasks::Range& range = masks.of(p);
    for (std::int64_t i = 0; i < 2 * (range.end - range.begin); ++i) {
      fixed[0][p].push_back(static_cast<Real>(i % 3 == 0));
    }
  }
  const Bytes hidden = draw(masks, {.masks = &fixed}, 1);
  const std::int64_t begin = masks.of(spec.index_of("pi_h")).begin;
  for (std::int64_t i = 0; i < 4; ++i) {
    CHECK(hidden[static_cast<std::size_t>(begin + i)] == ((4 + i) % 3 == 0 ? 1 : 0));
  }
  CHECK_THROWS_AS(draw(masks, {.masks = &fixed}, 2), Error);
}

}  // namespace
}  // namespace renar::hint_masks_test
