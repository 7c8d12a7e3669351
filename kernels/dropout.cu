#include "kernels/dropout.h"

#include <cmath>

#include "core/check.h"
#include "core/launch.h"
#include "core/rng.h"

namespace renar {
namespace {

struct Drop {
  std::int64_t sample;         // numbers of one
  std::uint64_t dropped;       // of 2^32
  const std::uint64_t* seeds;  // (B)
  std::uint32_t step;
  Real scale;
  const Real* x;
  bool* kept;
  Real* y;

  RENAR_HOST_DEVICE CounterRng stream_of(std::int64_t b) const {
    return {seeds[b], Purpose::kDropout, step, 0};
  }
  RENAR_HOST_DEVICE void draw(CounterRng& rng, std::int64_t at) const {
    kept[at] = rng.next() >= dropped;
    y[at] = kept[at] ? scale * x[at] : Real{0};
  }
};

struct DropBackward {
  Real scale;
  const bool* kept;
  const Real* dy;
  Real* dx;

  Touched touched(std::int64_t count) const {
    return Touched().reads(kept, count).reads(dy, count).writes(dx, count);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t at) const {
    if (kept[at]) dx[at] += scale * dy[at];
  }
};

void forward_on_cpu(const Drop& drop, std::int64_t batch) {
  for (std::int64_t b = 0; b < batch; ++b) {
    CounterRng rng = drop.stream_of(b);
    for (std::int64_t i = 0; i < drop.sample; ++i) drop.draw(rng, b * drop.sample + i);
  }
}

/// A seed for each sample in this update, where the device is: the launch does not depend on which
/// update it is (core/launch_graphs.h).
const std::uint64_t* send_seeds(Tape& tape, const DropoutKey& key, std::int64_t batch) {
  std::uint64_t* seeds = tape.host_array<std::uint64_t>(batch);
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto place = static_cast<std::uint32_t>(key.samples[b]);
    seeds[b] = derived_seed(key.seed, Purpose::kDropout, key.update, place);
  }
  return tape.send<std::uint64_t>(seeds, batch);
}

// A thread for each of the `blocks` of a sample's stream, that is for four elements: a block is
// made at once.
struct DropBlock {
  std::int64_t blocks;
  Drop drop;

  Touched touched(std::int64_t count) const {
    const std::int64_t batch = count / blocks, size = batch * drop.sample;
    return Touched()
        .reads(drop.seeds, batch)
        .reads(drop.x, size)
        .writes(drop.kept, size)
        .writes(drop.y, size);
  }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t b = i / blocks, first = i % blocks * CounterRng::kBlock;
    CounterRng rng = drop.stream_of(b);
    rng.skip_to(static_cast<std::uint32_t>(i % blocks));
    for (std::int64_t k = first; k < first + CounterRng::kBlock && k < drop.sample; ++k) {
      drop.draw(rng, b * drop.sample + k);
    }
  }
};

}  // namespace

Tensor dropout(Tape& tape, Tensor x, double rate, const DropoutKey& key) {
  RENAR_CHECK(rate >= 0 && rate < 1, "[dropout] rate {}, expected 0 <= rate < 1", rate);
  if (rate == 0) return x;
  const std::int64_t batch = x.dim(0), sample = x.size() / batch;
  const auto dropped = static_cast<std::uint64_t>(std::llround(rate * 4294967296.0));
  const Real scale = static_cast<Real>(1 / (1 - rate));
  Tensor y = tape.output(x.shape, {x});
  bool* kept = tape.array<bool>(x.size());
  const Drop drop{sample, dropped, send_seeds(tape, key, batch), key.step, scale, x.data,
                  kept,   y.data};
  const Device device = tape.device();
  if (device == Device::kCpu) {
    forward_on_cpu(drop, batch);
  } else {
    const std::int64_t blocks = blocks_for(sample, CounterRng::kBlock);
    for_each(device, batch * blocks, DropBlock{blocks, drop});
  }
  tape.record(y, [=] { for_each(device, x.size(), DropBackward{scale, kept, y.grad, x.grad}); });
  return y;
}

}  // namespace renar
