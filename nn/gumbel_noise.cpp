#include "nn/gumbel_noise.h"

#include <algorithm>

#include "core/rng.h"

namespace renar {
namespace {

std::uint32_t key_part(std::int64_t number) { return static_cast<std::uint32_t>(number); }

/// The stream of one (N,N). A key has room for two numbers beside the seed, so it takes two: the
/// first stream, of the sample in its update, draws the seed of the second.
CounterRng stream_of(std::uint64_t seed, std::int64_t update, const Samples& samples,
                     std::int64_t sample, std::size_t probe, std::int64_t step) {
  const std::uint64_t own =
      derived_seed(seed, Purpose::kGumbelNoise, key_part(update), key_part(samples.index(sample)));
  const std::int64_t task = samples.batch().task, p = static_cast<std::int64_t>(probe);
  return CounterRng(own, Purpose::kGumbelNoise, key_part(step), key_part(task << 16 | p));
}

}  // namespace

Tensor gumbel_noise(Tape& tape, std::uint64_t seed, const NoiseKey& key, const Samples& samples,
                    std::size_t probe, std::int64_t step, std::int64_t begin, std::int64_t count) {
  const std::int64_t n = samples.nodes(), each = n * n;
  const bool output = samples.spec()[probe].stage == Stage::kOutput;
  const Tensor noise = tape.host_constant({count, n, n});
  for (std::int64_t k = 0; k < count; ++k) {
    Real* out = noise.data + k * each;
    if (key.fixed != nullptr) {
      std::copy_n(key.fixed + samples.index(begin + k) * each, each, out);
    } else {
      const std::int64_t at = output ? samples.last_step(begin + k) : step;
      CounterRng rng = stream_of(seed, key.update, samples, begin + k, probe, at);
      std::generate_n(out, each, [&] { return static_cast<Real>(rng.gumbel()); });
    }
  }
  return tape.send(noise);
}

}  // namespace renar
