// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): the n-th number of a stream is
// a function of its key alone, so it depends on no thread, no device, no evaluation and no resume.
//
// A stream is keyed by (seed, purpose, step, sample). Kernels draw the same numbers, each thread
// from its own place in the stream (skip_to). The benchmark's data does not come from here but from
// numpy's generator (core/numpy_random.h).
#pragma once

#include <cmath>
#include <cstdint>

#include "core/device_code.h"

namespace renar {

enum class Purpose : std::uint32_t {
  kInitialisation = 1,
  kGumbelNoise = 2,
  kTeacherForcing = 3,
  kDropout = 4,
  kHintMasks = 5
};

class CounterRng {
 public:
  static constexpr int kBlock = 4;  ///< numbers that are made at once

  RENAR_HOST_DEVICE CounterRng(std::uint64_t seed, Purpose purpose, std::uint32_t step,
                               std::uint32_t sample)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{{0, static_cast<std::uint32_t>(purpose), step, sample}} {}

  /// The next number is the first of that block, kBlock times `block` from the stream's start.
  RENAR_HOST_DEVICE void skip_to(std::uint32_t block) {
    counter_.word[0] = block;
    used_ = kBlock;
  }

  RENAR_HOST_DEVICE std::uint32_t next() {
    if (used_ == kBlock) {
      block_ = philox(counter_, key_);
      ++counter_.word[0];
      used_ = 0;
    }
    return block_.word[used_++];
  }

  double uniform() {
    const std::uint32_t high = next();
    return inside_unit(high, next());
  }

  /// 64 random bits as a number in (0, 1), never an end of the interval: of 53 bits and a half the
  /// largest would round to 1, so 52 are used.
  static double inside_unit(std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits = std::uint64_t{high >> 6} << 26 | low >> 6;
    return (static_cast<double>(bits) + 0.5) / 4503599627370496.0;
  }

  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

  /// Standard Gumbel: the largest of several logits with such noise is a draw from their softmax.
  double gumbel() { return -std::log(-std::log(uniform())); }

  /// Normal, redrawn until it lies within two standard deviations.
  double truncated_normal() {
    for (;;) {
      const double value = normal();
      if (std::abs(value) <= 2.0) return value;
    }
  }

 private:
  // Plain arrays: the members of std::array are not device code.
  struct Block {
    std::uint32_t word[kBlock];
  };
  struct Key {
    std::uint32_t word[2];
  };

  RENAR_HOST_DEVICE static Block philox(Block counter, Key key) {
    constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
    for (int round = 0; round < 10; ++round) {
      const std::uint32_t* x = counter.word;
      const std::uint64_t a = kMultiplier0 * x[0], b = kMultiplier1 * x[2];
      counter = {{static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key.word[0],
                  static_cast<std::uint32_t>(b),
                  static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key.word[1],
                  static_cast<std::uint32_t>(a)}};
      key = {{key.word[0] + kWeyl0, key.word[1] + kWeyl1}};
    }
    return counter;
  }

  Key key_;
  Block counter_;
  Block block_{};
  int used_ = kBlock;
};

/// A seed for each key. Where more numbers must count than a key holds, they key streams of that
/// seed.
RENAR_HOST_DEVICE inline std::uint64_t derived_seed(std::uint64_t seed, Purpose purpose,
                                                    std::uint32_t step, std::uint32_t sample) {
  CounterRng rng(seed, purpose, step, sample);
  const std::uint64_t high = rng.next();
  return high << 32 | rng.next();
}

}  // namespace renar
