// What a trajectory that is trained in parts goes on from: for every slot the numbers that cross
// from one time step to the next, as they stood after the last step of its last chunk.
//
//   (slots, width)   hidden (N,H) | the LSTM's cell (N,H) | each hint as the next step reads it
//
// No gradient flows back through them: that is what truncates backpropagation through time. (The
// field's reference, baselines.py, has this state and then starts every chunk from the initial one;
// the line that would carry it is commented out.)
//
// A slot may end one trajectory and begin others within a chunk, in different shards. So what is
// taken up and what is put down are two arrays, which change places after the chunk. They lie where
// the chunks run, tensor by tensor: (slots,width) of hidden, then that of the cell, and so on.
#pragma once

#include <array>
#include <vector>

#include "core/device_buffer.h"
#include "core/tape.h"
#include "nn/batch.h"
#include "nn/encoder.h"

namespace renar {

/// The tensors of one shard that are carried, each (B,..), in the order of their numbers.
struct CarriedTensors {
  std::array<Tensor, 2 * kMaxProbes + 2> tensors{};
  std::size_t count = 0;

  void add(const Tensor& tensor) { tensors[count++] = tensor; }
};

class CarriedState {
 public:
  /// As a checkpoint holds it; empty before the first chunk.
  explicit CarriedState(std::vector<Real> values = {}, Device device = Device::kCpu);

  /// Makes room, zeroed, if this is the first chunk; `widths` are the numbers that a slot has of
  /// each tensor. Throws renar::Error if it holds another number of slots or other widths.
  void fit(std::int64_t slots, const std::vector<std::int64_t>& widths);
  /// Overwrites the rows of the samples that start from their slot. Throws renar::Error where the
  /// tape has another device.
  void take_up(Tape& tape, const Samples& samples, const CarriedTensors& tensors) const;
  /// Keeps the rows of samples [begin, end) for their slots. Shards may do so at once: a slot has
  /// at most one unfinished part.
  void put_down(Tape& tape, const Samples& samples, std::int64_t begin, std::int64_t end,
                const CarriedTensors& tensors);
  /// After the chunk: what was put down is there to be taken up; other slots are zero.
  void turn();

  /// (slots, width), as a checkpoint holds it.
  std::vector<Real> values() const;

 private:
  std::int64_t size() const;
  DeviceBuffer<Real>& next() { return states_[1 - now_]; }

  Device device_;
  std::vector<Real> start_;  // until there is room
  std::int64_t slots_ = 0;
  std::vector<std::int64_t> widths_;  // empty: no room yet
  std::array<DeviceBuffer<Real>, 2> states_;
  std::size_t now_ = 0;  // which of them is taken up
};

}  // namespace renar
