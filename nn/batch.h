// A batch of trajectories as the net reads it, and its cut into shards.
//
// Values lie as in the reference: inputs and outputs [B, ...], hints [T, B, ...], zero-padded;
// pointers and one-hot probes as the benchmark writes them. Samples meet only in the weight
// gradients, so a batch is cut into shards that run alone, by a rule that sees the batch only:
// samples sorted by length, longest first (ties in order), and as many in a shard as give it enough
// to do (kShardRows and the rest below). A shard runs sample k for its own length: at step t the
// active samples are a prefix.
//
// Chunked training (trainer/chunk_source.h) runs trajectories in parts, a few frames an update. A
// sample is then a part: the frames from the one that its first step reads to the last that is
// compared, so that all of the above holds for it, too. Only the part that ends its trajectory has
// an output; any other leaves its state to the trajectory's next part (nn/carried_state.h).
//
// A device trains on whole trajectories with rounded lengths (Lengths::kRounded), so that what it
// launches for one batch comes again with another.
#pragma once

#include <vector>

#include "algos/spec.h"
#include "core/tape.h"

namespace renar {

/// Edge rows (B N N) a shard should have in a time step: enough for the GEMM, few enough for a
/// core's cache. Over all its steps it should have kShardWork, as its gradient, which is zeroed and
/// added to those of the others, costs as much as some steps do: short trajectories share one, as
/// long as a step has no more than kMostShardRows and kLeastShards threads have something to do.
/// (bfs at n = 16, two or three steps a sample: 57 ms a training step where samples are alone, 47
/// where two to four are together; dfs, of 47 steps, gains nothing.)
constexpr std::int64_t kShardRows = 256, kShardWork = 4096, kMostShardRows = 1024;
constexpr std::int64_t kLeastShards = 8;

/// How long the samples of a shard run: each for its own length or, so that few different lengths
/// remain, longer. A sample that is over and still runs is not compared with anything (nn/truths.h,
/// nn/step_marks.h): it reads what it predicts, as the peers' samples all do, and costs time alone.
///   kRounded   the shard, longest sample first, is cut into kLengthGroups, each of which runs as
///              long as its longest sample, rounded up to a multiple of a power of two: at most
///              kLengthParts of them make the whole. Where all are of one length it stays.
/// They are as coarse as that because an update that is played (core/launch_graphs.h) gains about
/// an eighth, and recording costs one: what is recorded should come again ten times. Four groups
/// would have three times as much to record (docs/profiling.md).
enum class Lengths { kOwn, kRounded };
constexpr std::int64_t kLengthGroups = 2, kLengthParts = 16;

struct Batch {
  const Spec* spec = nullptr;
  int task = 0;                           // which of the net's algorithms
  std::int64_t size = 0;                  // B
  std::int64_t nodes = 0;                 // N
  std::int64_t frames = 0;                // T
  std::vector<int> lengths;               // (B) true number of frames
  std::vector<std::vector<Real>> values;  // one for each probe of the spec

  struct Part {
    std::int64_t slot;  // of the carried state
    bool carried;       // starts from what the slot holds, not from zeros and true hints
    bool ends;          // its last frame is its trajectory's
  };
  std::vector<Part> parts;  // (B); empty: the samples are whole trajectories
  std::int64_t slots = 0;   // of the carried state
  int lane = 0;             // which carried state

  struct Shard {
    std::int64_t begin, end;  // in `order`
  };
  std::vector<std::int64_t> strides;  // numbers of one sample in one frame, for each probe
  std::vector<int> order;             // (B) samples, longest first, of equals unfinished parts
  std::vector<Shard> shards;

  std::int64_t stride(std::size_t probe) const { return strides[probe]; }
  /// Whether a sample's last step has an output.
  bool ends(std::int64_t sample) const {
    return parts.empty() || parts[static_cast<std::size_t>(sample)].ends;
  }
  /// The numbers of one sample in one frame.
  const Real* at(std::size_t probe, std::int64_t frame, std::int64_t sample) const;
  /// Fills strides, order and shards from the rest.
  void cut();
};

/// Steps of a trajectory of `frames` frames: the prediction of step i is compared with frame i + 1.
constexpr std::int64_t steps_of(std::int64_t frames) { return frames > 1 ? frames - 1 : 1; }

/// One shard's samples. What it makes of them lies on the tape's device. (nn/truths.h: what losses
/// compare with.)
class Samples {
 public:
  Samples(const Batch& batch, const Batch::Shard& shard, Lengths lengths = Lengths::kOwn)
      : batch_(batch), shard_(shard), lengths_(lengths) {}

  const Batch& batch() const { return batch_; }
  const Spec& spec() const { return *batch_.spec; }
  std::int64_t size() const { return shard_.end - shard_.begin; }
  std::int64_t nodes() const { return batch_.nodes; }
  /// Each sample's place in the batch.
  const int* places() const { return batch_.order.data() + shard_.begin; }
  /// The k-th sample's place in the batch.
  std::int64_t index(std::int64_t k) const {
    return batch_.order[static_cast<std::size_t>(shard_.begin + k)];
  }
  std::int64_t length(std::int64_t k) const {
    return batch_.lengths[static_cast<std::size_t>(index(k))];
  }
  bool has_frame(std::int64_t k, std::int64_t frame) const { return frame < length(k); }
  /// The step that makes a sample's output, and after which rounded lengths may still go on.
  std::int64_t last_step(std::int64_t k) const { return steps_of(length(k)) - 1; }
  bool rounded() const { return lengths_ == Lengths::kRounded; }

  /// Steps of the shard, and one more than the last frame that any of them is compared with.
  std::int64_t steps() const { return steps_run(0); }
  std::int64_t frames() const { return rounded() ? steps() + 1 : length(0); }
  /// How many samples are still running at step t, and how many are compared with a frame t + 1,
  /// which all have but where lengths are rounded.
  std::int64_t active(std::int64_t step) const;
  std::int64_t compared(std::int64_t step) const;
  /// How many of those that run at step t go on after it, here or in a later chunk. The others
  /// have an output.
  std::int64_t going_on(std::int64_t step) const;

  /// The truth as encoders read it: nodes (B,N[,C]), edges (B,N,N[,C]), graphs (B[,C]); pointers as
  /// one-hot, of nodes (B,N,N) and graphs (B,N), and those of edges as their means (B,N,N,2).
  Tensor features(Tape& tape, std::size_t probe, std::int64_t frame) const;
  /// The truth of a pointer with a row of N for each of its numbers: nodes (B,N,N), edges (B,NN,N),
  /// graphs (B,1,N).
  Tensor one_hot(Tape& tape, std::size_t probe, std::int64_t frame) const;

 private:
  std::int64_t steps_run(std::int64_t k) const;
  const Real* written(std::size_t probe, std::int64_t frame, std::int64_t k) const;

  const Batch& batch_;
  Batch::Shard shard_;
  Lengths lengths_;
};

/// Which lengths a device trains on: rounded ones for whole trajectories, if that adds no more than
/// kPaddedRows of edges (B N N) to the mean step. So many cost a GPU 50 us, by the times of
/// insertion_sort at 16 and 64 nodes, where it gains 75 by playing a step.
Lengths lengths_on_device(const Batch& batch);
constexpr std::int64_t kPaddedRows = 2048;

/// The class that a row of `count` one-hot numbers marks with 1, or -1.
std::int32_t marked_class(const Real* row, std::int64_t count);

/// Whether the probe is written as an index, and not as a one-hot row: a pointer, or what stays a
/// pointer where the pipeline makes no permutation of it.
bool is_index(const Probe& probe);

/// A pointer in any form: it relates its location to nodes.
bool is_pointer(const Probe& probe);

/// A pointer of every edge, N^3 numbers as one-hot rows.
bool is_edge_pointer(const Probe& probe);

/// How many numbers a class choice of this probe ranges over (C, or N for mask_one and the
/// pointers); 1 for others.
std::int64_t choices(const Probe& probe, std::int64_t nodes);

}  // namespace renar
