#include "core/numpy_random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/check.h"
#include "core/simd.h"

namespace renar {

NumpyRandom::NumpyRandom(std::uint32_t seed) {
  words_[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
  }
  temper();
}

/// Makes the next 624 words from the last: x[i] = x[i+397] ^ (the top bit of x[i] and the low 31
/// bits of x[i+1]) * A, indices modulo 624.
RENAR_CLONES void NumpyRandom::twist() {
  constexpr std::size_t kMiddle = 397;
  constexpr std::uint32_t kTopBit = 0x80000000u, kA = 0x9908b0dfu;
  const auto twisted = [this](std::size_t i, std::size_t next, std::size_t middle) {
    const std::uint32_t y = (words_[i] & kTopBit) | (words_[next] & ~kTopBit);
    return words_[middle] ^ (y >> 1) ^ (kA & (0u - (y & 1u)));
  };
  std::size_t i = 0;
  for (; i < kWords - kMiddle; ++i) words_[i] = twisted(i, i + 1, i + kMiddle);
  for (; i < kWords - 1; ++i) words_[i] = twisted(i, i + 1, i + kMiddle - kWords);
  words_[i] = twisted(i, 0, kMiddle - 1);
  next_ = 0;
  temper();
}

RENAR_CLONES void NumpyRandom::temper() {
  for (std::size_t i = 0; i < kWords; ++i) {
    std::uint32_t y = words_[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    tempered_[i] = y ^ (y >> 18);
  }
}

/// Each draw is map(random_sample()). The draws whose words lie in the present block of 624 come
/// from a loop without calls, which becomes SIMD code.
template <class Map>
void NumpyRandom::fill(std::span<double> draws, const Map& map) {
  std::size_t done = 0;
  while (done < draws.size()) {
    const std::size_t count = std::min((kWords - next_) / 2, draws.size() - done);
    const std::uint32_t* words = tempered_.data() + next_;
    for (std::size_t i = 0; i < count; ++i) {
      draws[done + i] = map(sample_of(words[2 * i], words[2 * i + 1]));
    }
    next_ += 2 * count;
    done += count;
    if (done < draws.size()) draws[done++] = map(random_sample());  // begins the next block
  }
}

void NumpyRandom::uniform(double low, double high, std::span<double> draws) {
  const double width = high - low;
  fill(draws, [=](double sample) { return low + width * sample; });
}

std::vector<double> NumpyRandom::uniform(double low, double high, std::size_t count) {
  std::vector<double> draws(count);
  uniform(low, high, draws);
  return draws;
}

/// A number in [0, largest] by rejection: words cut to the bits of `largest` until one fits.
std::uint32_t NumpyRandom::masked(std::uint32_t largest) {
  if (largest == 0) return 0;
  const std::uint32_t mask = ~0u >> std::countl_zero(largest);
  std::uint32_t draw = next_word() & mask;
  while (draw > largest) draw = next_word() & mask;
  return draw;
}

std::int64_t NumpyRandom::randint(std::int64_t low, std::int64_t high) {
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  RENAR_CHECK(low < high && range <= (1ull << 32),
              "[randint] [{}, {}) must hold between 1 and 2^32 numbers", low, high);
  return low + masked(static_cast<std::uint32_t>(range - 1));
}

/// Inversion: a uniform draw above P(0) = 1-p is a 1. Above one half the mirror image is drawn.
/// P(0) is exp(log(1-p)), numpy's (1-p)^n at n = 1. Where a draw exceeds P(0) + P(1) numpy draws
/// again: rounding would have to lose more than exp and log do, of which the check makes sure.
const NumpyRandom::Binomial& NumpyRandom::binomial_of(double p) {
  if (p == binomial_.p) return binomial_;
  RENAR_CHECK(p >= 0 && p <= 1, "[binomial] probability {} is not in [0, 1]", p);
  const double mirrored = p > 0.5 ? 1 : 0;
  const double rare = mirrored != 0 ? 1.0 - p : p;
  const double q = 1.0 - rare;
  const double p_of_0 = std::exp(std::log(q)), p_of_1 = rare * p_of_0 / q;
  RENAR_CHECK(1 - 0x1p-53 - p_of_0 <= p_of_1,
              "[binomial] P(0) = {} and P(1) = {} leave a gap below 1: exp and log are too coarse",
              p_of_0, p_of_1);
  return binomial_ = {p, p_of_0, mirrored, 1 - mirrored};
}

int NumpyRandom::binomial(double p) {
  return static_cast<int>(binomial_of(p).outcome(random_sample()));
}

void NumpyRandom::binomial(double p, std::span<double> draws) {
  const Binomial one = binomial_of(p);
  fill(draws, [&](double sample) { return one.outcome(sample); });
}

std::vector<int> NumpyRandom::permutation(int n) {
  RENAR_CHECK(n >= 0, "[permutation] {} items", n);
  std::vector<int> items(static_cast<std::size_t>(n));
  std::iota(items.begin(), items.end(), 0);
  shuffle(items);
  return items;
}

int NumpyRandom::choice(int n) { return static_cast<int>(randint(0, n)); }

double NumpyRandom::choice(const std::vector<double>& list) {
  RENAR_CHECK(!list.empty(), "[choice] an empty list has nothing to choose from");
  return list[static_cast<std::size_t>(randint(0, static_cast<std::int64_t>(list.size())))];
}

std::vector<int> NumpyRandom::choice(int n, std::size_t count) {
  std::vector<int> draws(count);
  for (int& draw : draws) draw = choice(n);
  return draws;
}

std::vector<std::uint32_t> NumpyRandom::state() const {
  std::vector<std::uint32_t> state(words_.begin(), words_.end());
  state.push_back(static_cast<std::uint32_t>(next_));
  return state;
}

void NumpyRandom::set_state(std::span<const std::uint32_t> state) {
  RENAR_CHECK(state.size() == kStateWords, "[NumpyRandom] a state has {} words, expected {}",
              state.size(), kStateWords);
  RENAR_CHECK(state.back() <= kWords, "[NumpyRandom] position {} lies outside 0..{}", state.back(),
              kWords);
  std::copy_n(state.begin(), kWords, words_.begin());
  next_ = state.back();
  temper();
}

double pairwise_sum(std::span<const double> values) {
  constexpr std::size_t kBlock = 128;
  const std::size_t n = values.size();
  if (n < 8) return std::accumulate(values.begin(), values.end(), 0.0);
  if (n > kBlock) {
    const std::size_t half = n / 2 - (n / 2) % 8;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  std::array<double, 8> r;
  std::copy_n(values.begin(), 8, r.begin());
  const std::size_t whole = n - n % 8;
  for (std::size_t i = 8; i < whole; ++i) r[i % 8] += values[i];
  const double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(whole), values.end(), sum);
}

}  // namespace renar
