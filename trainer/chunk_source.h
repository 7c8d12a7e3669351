// Chunked training: trajectories cut in time, a few frames an update, which bounds memory and lets
// the parameters move before a long trajectory has ended (truncated backpropagation through time).
//
// An algorithm and one of its training lengths make a lane. In each of a lane's B slots
// trajectories stand one after another without end, sample b of every batch in slot b, and a chunk
// is the next L frames of all slots (dataset.py, chunkify). Lanes take turns as the batches of
// whole trajectories do.
//
// Frame f of a trajectory of T frames is what step f - 1 predicts, so its frames [begin, end) in
// one chunk are the steps max(begin - 1, 0) .. end - 2. They become one sample of the batch, frames
// max(begin - 1, 0) .. end - 1, the first of which is read and not compared. So every step runs
// once and every frame but the first is compared once, however the trajectory is cut; a first frame
// alone at a chunk's end has no step yet and makes no sample. A trajectory of one frame has one
// step. (In the reference a step runs for a last frame, too, which nothing is compared with, and
// the output of a trajectory of one frame is read from the step of whatever stood before it.)
//
// The state of a resumed run: pending batches are written as the generator states that they were
// drawn from, and drawn again.
#pragma once

#include <deque>

#include "trainer/training_batches.h"

namespace renar {

/// What a part in the middle of a trajectory starts from: the state at the end of the part before,
/// or zeros and the true hints of its first frame, as if a trajectory began there. (The reference's
/// restart reads the first frame of the run's very first chunk instead, whatever the sample is.)
enum class ChunkState { kCarry, kReset };

struct ChunkOptions {
  int length = 16;  ///< L, at least 2: one frame alone may have no step
  ChunkState state = ChunkState::kCarry;
};

class ChunkSource final : public TrainingBatches {
 public:
  /// Stream and net outlive it. Throws renar::UsageError for a length below 2.
  ChunkSource(TrainingStream& stream, const Net& net, const ChunkOptions& options);

  /// The next lane's next chunk.
  void next(Batch& chunk) override;
  std::vector<std::uint32_t> state() const override;
  void restore(std::span<const std::uint32_t> state) override;
  std::vector<std::uint32_t> state_before_last() const override { return before_last_; }

 private:
  struct Pending {
    Batch batch;
    std::vector<std::uint32_t> drawn_from;
  };
  struct Place {
    std::size_t batch = 0;   // in `pending`
    int frame = 0;           // the next one
    std::int64_t ahead = 0;  // frames from there to the end of `pending`
  };
  struct Lane {
    std::size_t algorithm, length;
    std::deque<Pending> pending = {};  // oldest first
    std::vector<Place> slots = {};     // (B)
  };
  /// Frames [begin, end) of one sample, the first of them to be read alone.
  struct Piece {
    const Batch* from;
    std::int64_t slot;
    int begin, end;
  };

  std::size_t lane_in_turn() const;
  bool has_frames(const Lane& lane) const;
  void draw(Lane& lane);
  std::vector<Piece> cut(Lane& lane) const;
  void fill(const std::vector<Piece>& pieces, Batch& chunk) const;
  static void drop_finished(Lane& lane);

  TrainingStream& stream_;
  const Net& net_;
  ChunkOptions options_;
  std::vector<Lane> lanes_;
  std::vector<std::size_t> first_lanes_;  // of each algorithm
  std::uint64_t chunks_ = 0;              // made so far
  std::vector<std::uint32_t> before_last_;
};

}  // namespace renar
