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
// taken up and what is put down are two arrays, which change places after the chunk.
#pragma once

#include <array>
#include <vector>

#include "core/arena.h"
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
  /// As a checkpoint holds it; empty before the first chunk. It lies on the host, where the device
  /// can read and write it without being waited for.
  explicit CarriedState(const std::vector<Real>& values = {}, Device device = Device::kCpu);

  /// Makes room, zeroed, if this is the first chunk. Throws renar::Error if it holds another number
  /// of slots or another width.
  void fit(std::int64_t slots, std::int64_t width);
  /// Overwrites the rows of the samples that start from their slot. The tensors lie on the device.
  void take_up(Device device, const Samples& samples, const CarriedTensors& tensors) const;
  /// Keeps the rows of samples [begin, end) for their slots. Shards may do so at once: a slot has
  /// at most one unfinished part.
  void put_down(Device device, const Samples& samples, std::int64_t begin, std::int64_t end,
                const CarriedTensors& tensors);
  /// After the chunk, when the device has been waited for: what was put down is there to be taken
  /// up; other slots are zero.
  void turn();

  std::vector<Real> values() const { return {now_, now_ + size_}; }

 private:
  void make_room(std::int64_t size);

  Arena memory_;
  std::int64_t size_ = 0, width_ = 0;
  Real *now_ = nullptr, *next_ = nullptr;  // (slots, width)
};

}  // namespace renar
