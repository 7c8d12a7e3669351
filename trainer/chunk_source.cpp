#include "trainer/chunk_source.h"

#include <algorithm>

#include "core/check.h"
#include "trainer/batch.h"

namespace renar {
namespace {

constexpr std::uint32_t kStateMark = 0x52434b01;  // "RCK" and the version of the layout

int length_of(const Batch& batch, std::size_t sample) { return batch.lengths[sample]; }

/// Takes words off the front of a stored state.
class Words {
 public:
  explicit Words(std::span<const std::uint32_t> words) : rest_(words) {}

  std::span<const std::uint32_t> take(std::size_t count) {
    RENAR_CHECK(count <= rest_.size(), "[chunk_source] the state has {} words left, expected {}",
                rest_.size(), count);
    const std::span<const std::uint32_t> words = rest_.first(count);
    rest_ = rest_.subspan(count);
    return words;
  }
  std::uint32_t one() { return take(1)[0]; }
  bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::uint32_t> rest_;
};

}  // namespace

ChunkSource::ChunkSource(TrainingStream& stream, const Net& net, const ChunkOptions& options)
    : stream_(stream), net_(net), options_(options) {
  RENAR_USAGE(options.length >= 2, "chunks of {} frames, give at least 2", options.length);
  for (std::size_t algorithm = 0; algorithm < stream.algorithms(); ++algorithm) {
    first_lanes_.push_back(lanes_.size());
    for (std::size_t length = 0; length < stream.lengths(algorithm); ++length) {
      Lane& lane = lanes_.emplace_back(Lane{algorithm, length});
      lane.slots.resize(static_cast<std::size_t>(stream.batch_size()));
    }
  }
}

std::size_t ChunkSource::lane_in_turn() const {
  const std::size_t algorithm = chunks_ % stream_.algorithms();
  return first_lanes_[algorithm] + chunks_ / stream_.algorithms() % stream_.lengths(algorithm);
}

void ChunkSource::next(Batch& chunk) {
  before_last_ = state();
  const std::size_t number = lane_in_turn();
  Lane& lane = lanes_[number];
  while (!has_frames(lane)) draw(lane);
  chunk.task = static_cast<int>(lane.algorithm);
  chunk.lane = static_cast<int>(number);
  chunk.slots = stream_.batch_size();
  fill(cut(lane), chunk);
  drop_finished(lane);
  ++chunks_;
}

bool ChunkSource::has_frames(const Lane& lane) const {
  return std::all_of(lane.slots.begin(), lane.slots.end(),
                     [&](const Place& place) { return place.ahead >= options_.length; });
}

void ChunkSource::draw(Lane& lane) {
  Pending& pending = lane.pending.emplace_back();
  pending.drawn_from = stream_.draw_state(lane.algorithm, lane.length);
  fill_batch(net_.spec(static_cast<int>(lane.algorithm)), stream_.draw(lane.algorithm, lane.length),
             pending.batch);
  for (std::size_t slot = 0; slot < lane.slots.size(); ++slot) {
    lane.slots[slot].ahead += length_of(pending.batch, slot);
  }
}

std::vector<ChunkSource::Piece> ChunkSource::cut(Lane& lane) const {
  std::vector<Piece> pieces;
  for (std::size_t slot = 0; slot < lane.slots.size(); ++slot) {
    Place& place = lane.slots[slot];
    for (int left = options_.length; left > 0;) {
      const Batch& from = lane.pending[place.batch].batch;
      const int length = length_of(from, slot), begin = place.frame;
      const int end = std::min(length, begin + left);
      left -= end - begin;
      if (end > 1 || length == 1) {  // else there is no step yet
        pieces.push_back({&from, static_cast<std::int64_t>(slot), std::max(begin - 1, 0), end});
      }
      if (end == length) ++place.batch;
      place.frame = end == length ? 0 : end;
    }
    place.ahead -= options_.length;
  }
  return pieces;
}

void ChunkSource::fill(const std::vector<Piece>& pieces, Batch& chunk) const {
  chunk.spec = &net_.spec(chunk.task);
  chunk.size = std::ssize(pieces);
  chunk.nodes = pieces[0].from->nodes;
  chunk.lengths.clear();
  chunk.parts.clear();
  for (const Piece& piece : pieces) {
    chunk.lengths.push_back(piece.end - piece.begin);
    const bool goes_on = piece.begin > 0 && options_.state == ChunkState::kCarry;
    const int length = length_of(*piece.from, static_cast<std::size_t>(piece.slot));
    chunk.parts.push_back({.slot = piece.slot, .carried = goes_on, .ends = piece.end == length});
  }
  chunk.frames = *std::max_element(chunk.lengths.begin(), chunk.lengths.end());
  chunk.values.resize(chunk.spec->size());
  for (std::size_t p = 0; p < chunk.values.size(); ++p) {
    const bool hint = (*chunk.spec)[p].stage == Stage::kHint;
    const std::int64_t stride = pieces[0].from->stride(p), frames = hint ? chunk.frames : 1;
    chunk.values[p].assign(static_cast<std::size_t>(frames * chunk.size * stride), Real{0});
    for (std::int64_t b = 0; b < chunk.size; ++b) {
      const Piece& piece = pieces[static_cast<std::size_t>(b)];
      for (int t = 0; t < (hint ? piece.end - piece.begin : 1); ++t) {
        std::copy_n(piece.from->at(p, piece.begin + t, piece.slot), stride,
                    chunk.values[p].data() + (t * chunk.size + b) * stride);
      }
    }
  }
  chunk.cut();
}

void ChunkSource::drop_finished(Lane& lane) {
  std::size_t finished = lane.pending.size();
  for (const Place& place : lane.slots) finished = std::min(finished, place.batch);
  lane.pending.erase(lane.pending.begin(),
                     lane.pending.begin() + static_cast<std::ptrdiff_t>(finished));
  for (Place& place : lane.slots) place.batch -= finished;
}

std::vector<std::uint32_t> ChunkSource::state() const {
  const std::vector<std::uint32_t> stream = stream_.state();
  std::vector<std::uint32_t> words = {
      kStateMark, static_cast<std::uint32_t>(chunks_), static_cast<std::uint32_t>(chunks_ >> 32),
      static_cast<std::uint32_t>(lanes_.size()), static_cast<std::uint32_t>(stream.size())};
  words.insert(words.end(), stream.begin(), stream.end());
  for (const Lane& lane : lanes_) {
    words.push_back(static_cast<std::uint32_t>(lane.pending.size()));
    for (const Pending& pending : lane.pending) {
      words.insert(words.end(), pending.drawn_from.begin(), pending.drawn_from.end());
    }
    for (const Place& place : lane.slots) {
      words.push_back(static_cast<std::uint32_t>(place.batch));
      words.push_back(static_cast<std::uint32_t>(place.frame));
    }
  }
  return words;
}

void ChunkSource::restore(std::span<const std::uint32_t> state) {
  Words words(state);
  const std::uint32_t mark = words.one(), low = words.one(), high = words.one();
  const std::uint32_t lanes = words.one(), stream_words = words.one();
  RENAR_CHECK(mark == kStateMark && lanes == lanes_.size(),
              "[chunk_source] {} words are not the state of chunks in {} lanes", state.size(),
              lanes_.size());
  const std::span<const std::uint32_t> stream = words.take(stream_words);
  std::vector<Lane> found;
  for (const Lane& lane : lanes_) {
    Lane& again = found.emplace_back(Lane{lane.algorithm, lane.length});
    for (std::uint32_t left = words.one(); left > 0; --left) {
      const auto drawn_from = words.take(TrainingStream::kDrawStateWords);
      Pending& pending = again.pending.emplace_back();
      pending.drawn_from.assign(drawn_from.begin(), drawn_from.end());
      fill_batch(net_.spec(static_cast<int>(lane.algorithm)),
                 stream_.draw_again(lane.algorithm, lane.length, drawn_from), pending.batch);
    }
    for (std::size_t slot = 0; slot < lane.slots.size(); ++slot) {
      const std::uint32_t batch = words.one(), frame = words.one();
      const bool fresh = batch == again.pending.size() && frame == 0;
      RENAR_CHECK(
          fresh || (batch < again.pending.size() && frame < static_cast<std::uint32_t>(length_of(
                                                                again.pending[batch].batch, slot))),
          "[chunk_source] slot {} stands at frame {} of batch {} of {}", slot, frame, batch,
          again.pending.size());
      again.slots.push_back({batch, static_cast<int>(frame), -static_cast<std::int64_t>(frame)});
      for (std::size_t i = batch; i < again.pending.size(); ++i) {
        again.slots[slot].ahead += length_of(again.pending[i].batch, slot);
      }
    }
  }
  RENAR_CHECK(words.empty(), "[chunk_source] the state has more words than its {} lanes",
              lanes_.size());
  stream_.restore(stream);
  lanes_ = std::move(found);
  chunks_ = std::uint64_t{high} << 32 | low;
  before_last_.clear();
}

}  // namespace renar
