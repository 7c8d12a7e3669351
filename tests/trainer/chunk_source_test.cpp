// Chunks of trajectories: every frame once and in its order, lanes in turn, and a state from which
// they go on.
#include "trainer/chunk_source.h"

#include <doctest/doctest.h>

#include <map>

#include "core/check.h"
#include "tests/nn/small.h"
#include "trainer/batch_ahead.h"

namespace renar::chunk_source_test {
namespace {

using test::both;
using test::net_of_both;

/// Trajectories of dfs have tens of frames; without edges those of bfs have one.
StreamConfig small() {
  return {.seed = 7,
          .lengths = {2, 5},
          .val_length = 4,
          .val_samples = 1,
          .batch_size = 3,
          .p = {0.0, 0.3}};
}

std::vector<Real> numbers(const Batch& batch, std::size_t p, std::int64_t t, std::int64_t sample) {
  const Real* from = batch.at(p, t, sample);
  return {from, from + batch.stride(p)};
}

/// A frame of a slot's endless sequence.
struct Frame {
  std::size_t batch;  // in which it was drawn
  int frame, length;
};

/// The chunk is frames [begin, begin + L) of every slot, as `frames` and `drawn` have them.
void check_chunk(const Batch& chunk, const std::vector<Batch>& drawn, std::size_t begin,
                 std::size_t end, ChunkState state) {
  std::int64_t part = 0;
  for (std::int64_t slot = 0; slot < 3; ++slot) {
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const int length = drawn[i].lengths[static_cast<std::size_t>(slot)];
      for (int t = 0; t < length; ++t) frames.push_back({i, t, length});
    }
    REQUIRE(frames.size() >= end);
    for (std::size_t f = begin; f < end;) {
      std::size_t stop = f + 1;  // the trajectory's frames in this chunk are [f, stop)
      while (stop < end && frames[stop].frame > 0) ++stop;
      const Frame first = frames[f], last = frames[stop - 1];
      f = stop;
      if (last.frame == 0 && last.length > 1) continue;  // no step yet
      REQUIRE(part < chunk.size);
      const auto k = static_cast<std::size_t>(part);
      const int read = first.frame > 0 ? first.frame - 1 : 0;
      CHECK(chunk.parts[k].slot == slot);
      CHECK(chunk.parts[k].carried == (read > 0 && state == ChunkState::kCarry));
      CHECK(chunk.parts[k].ends == (last.frame + 1 == last.length));
      REQUIRE(chunk.lengths[k] == last.frame + 1 - read);
      const Batch& from = drawn[first.batch];
      for (std::size_t p = 0; p < chunk.spec->size(); ++p) {
        const bool hint = (*chunk.spec)[p].stage == Stage::kHint;
        for (int t = 0; t < (hint ? chunk.lengths[k] : 1); ++t) {
          CHECK(numbers(chunk, p, t, part) == numbers(from, p, hint ? read + t : 0, slot));
        }
      }
      ++part;
    }
  }
  CHECK(part == chunk.size);
}

TEST_CASE("chunk_source: a chunk is the next frames of every slot, lanes in turn") {
  const Net net = net_of_both();
  for (const ChunkState state : {ChunkState::kCarry, ChunkState::kReset}) {
    for (const int length : {2, 3, 16}) {
      CAPTURE(length);
      TrainingStream stream(both(), small()), plain(both(), small());
      ChunkSource source(stream, net, {.length = length, .state = state});
      // Positions of both lengths come from one generator: draw them in the order of the chunks.
      std::map<int, std::vector<Batch>> drawn;
      std::map<int, std::size_t> begin;
      bool ended = false, several = false;
      for (int i = 0; i < 24; ++i) {
        const int task = i % 2, turn = i / 2 % 2, lane = 2 * task + turn;
        Batch chunk;
        source.next(chunk);
        CHECK(chunk.task == task);
        CHECK(chunk.lane == lane);
        CHECK(chunk.slots == 3);
        CHECK(chunk.nodes == (turn == 0 ? 2 : 5));
        const std::size_t end = begin[lane] + static_cast<std::size_t>(length);
        const auto shortest = [&] {
          std::size_t frames[3] = {};
          for (const Batch& batch : drawn[lane]) {
            for (std::size_t b = 0; b < 3; ++b) frames[b] += std::size_t(batch.lengths[b]);
          }
          return *std::min_element(frames, frames + 3);
        };
        while (shortest() < end) {
          Batch& batch = drawn[lane].emplace_back();
          fill_batch(net.spec(task), plain.draw(std::size_t(task), std::size_t(turn)), batch);
        }
        check_chunk(chunk, drawn[lane], begin[lane], end, state);
        begin[lane] = end;
        for (const Batch::Part& part : chunk.parts) ended = ended || part.ends;
        several = several || chunk.size > 3;
      }
      CHECK(ended);
      CHECK((several || length == 2));
    }
  }
}

void check_same_chunk(const Batch& got, const Batch& want) {
  CHECK(got.values == want.values);
  CHECK(got.lengths == want.lengths);
  CHECK(got.lane == want.lane);
  CHECK(got.order == want.order);
  REQUIRE(got.parts.size() == want.parts.size());
  for (std::size_t k = 0; k < got.parts.size(); ++k) {
    CHECK(got.parts[k].carried == want.parts[k].carried);
  }
}

TEST_CASE("chunk_source: chunks go on from a state, the one on its way not counted") {
  const Net net = net_of_both();
  TrainingStream stream(both(), small()), plain_stream(both(), small());
  ChunkSource source(stream, net, {.length = 4}), plain(plain_stream, net, {.length = 4});
  BatchAhead ahead(source);
  Batch want;
  for (int i = 0; i < 11; ++i) {
    check_same_chunk(ahead.take(), (plain.next(want), want));
    if (i % 2 == 0) ahead.start();
    CHECK(ahead.state() == plain.state());
  }
  TrainingStream other_stream(both(), small());
  ChunkSource other(other_stream, net, {.length = 4});
  other.restore(plain.state());
  CHECK(other.state() == plain.state());
  for (int i = 0; i < 11; ++i) {
    Batch got;
    other.next(got);
    check_same_chunk(got, (plain.next(want), want));
  }
}

TEST_CASE("chunk_source: a foreign or damaged state is refused and changes nothing") {
  const Net net = net_of_both();
  TrainingStream stream(both(), small());
  ChunkSource source(stream, net, {.length = 4});
  Batch chunk;
  for (int i = 0; i < 5; ++i) source.next(chunk);
  const std::vector<std::uint32_t> state = source.state();
  const auto refused = [&](std::vector<std::uint32_t> words) {
    CHECK_THROWS_AS(source.restore(words), Error);
    CHECK(source.state() == state);
  };
  refused({});
  refused(stream.state());
  std::vector<std::uint32_t> words = state;
  words.pop_back();
  refused(words);
  words = state;
  words.push_back(0);
  refused(words);
  words = state;
  words.back() = 1000;  // the frame that the last slot stands at
  refused(words);
  CHECK_THROWS_WITH_AS(ChunkSource(stream, net, {.length = 1}), doctest::Contains("at least 2"),
                       UsageError);
}

}  // namespace
}  // namespace renar::chunk_source_test
