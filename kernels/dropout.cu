#include "kernels/dropout.h"

#include <cmath>

#include "core/check.h"
#include "core/rng.h"

namespace renar {

Tensor dropout(Tape& tape, Tensor x, double rate, const DropoutKey& key) {
  RENAR_CHECK(rate >= 0 && rate < 1, "[dropout] rate {}, expected 0 <= rate < 1", rate);
  if (rate == 0) return x;
  const std::int64_t sample = x.size() / x.dim(0);
  const auto dropped = static_cast<std::uint64_t>(std::llround(rate * 4294967296.0));  // of 2^32
  const Real scale = static_cast<Real>(1 / (1 - rate));
  Tensor y = tape.output(x.shape, {x});
  bool* kept = tape.array<bool>(x.size());
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    const auto place = static_cast<std::uint32_t>(key.samples[b]);
    const std::uint64_t own = derived_seed(key.seed, Purpose::kDropout, key.update, place);
    CounterRng rng(own, Purpose::kDropout, key.step, 0);
    for (std::int64_t at = b * sample; at < (b + 1) * sample; ++at) {
      kept[at] = rng.next() >= dropped;
      y.data[at] = kept[at] ? scale * x.data[at] : Real{0};
    }
  }
  tape.record(y, [=] {
    for (std::int64_t at = 0; at < x.size(); ++at) {
      if (kept[at]) x.grad[at] += scale * y.grad[at];
    }
  });
  return y;
}

}  // namespace renar
