// numpy's legacy RandomState: the Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998) and the
// draws that the CLRS benchmark makes from it, bit for bit, so that a seed gives the same data here
// as in the reference.
//
// Every draw states how many 32-bit words it takes, because two programs stay in step only if they
// take the same number. Compile without fused multiply-add (-ffp-contract=off): numpy has none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace renar {

class NumpyRandom {
 public:
  /// As RandomState(seed): words[i] = 1812433253 * (words[i-1] ^ words[i-1] >> 30) + i.
  explicit NumpyRandom(std::uint32_t seed);

  /// The next word of the twister, uniform in [0, 2^32).
  std::uint32_t next_word() {
    if (next_ == kWords) twist();
    return tempered_[next_++];
  }

  /// A double in [0, 1) with 53 random bits. Two words.
  double random_sample() {
    const std::uint32_t first = next_word();
    return sample_of(first, next_word());
  }

  /// low + (high - low) * random_sample(). Two words.
  double uniform(double low, double high) { return low + (high - low) * random_sample(); }
  std::vector<double> uniform(double low, double high, std::size_t count);

  /// Fills `draws` with the same, several times faster than one by one.
  void uniform(double low, double high, std::span<double> draws);

  /// An integer in [low, high), high - low <= 2^32. Words are masked to the bits of the range and
  /// drawn again while too large; a range of one value takes no word at all.
  std::int64_t randint(std::int64_t low, std::int64_t high);

  /// binomial(1, p): 1 with probability p, else 0. Two words.
  int binomial(double p);

  /// Fills `draws` with the same, several times faster than one by one.
  void binomial(double p, std::span<double> draws);

  /// The numbers 0..n-1 in random order (Fisher and Yates, from the end).
  std::vector<int> permutation(int n);

  /// Puts the items in random order; the draws of permutation(items.size()).
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;) {
      std::swap(items[i], items[masked(static_cast<std::uint32_t>(i))]);
    }
  }

  /// choice(n), choice(list) and choice(n, count, replace=True): randint(0, n) underneath.
  int choice(int n);
  double choice(const std::vector<double>& list);
  std::vector<int> choice(int n, std::size_t count);

  /// The state as 624 words and the position of the next one: kStateWords words in all.
  static constexpr std::size_t kStateWords = 625;
  std::vector<std::uint32_t> state() const;

  /// Continues from a state() of any generator. Throws renar::Error if the words are not one.
  void set_state(std::span<const std::uint32_t> state);

 private:
  static constexpr std::size_t kWords = 624;

  struct Binomial {  // what draws of the same p share
    double p = -1;
    double p_of_0 = 1;              // of the more frequent number
    double frequent = 0, rare = 1;  // the numbers, swapped for p > 1/2

    double outcome(double sample) const { return sample > p_of_0 ? rare : frequent; }
  };

  static double sample_of(std::uint32_t first, std::uint32_t second) {
    const double high_27_bits = static_cast<std::int32_t>(first >> 5);  // signed, as SIMD converts
    const double low_26_bits = static_cast<std::int32_t>(second >> 6);
    return (high_27_bits * 67108864.0 + low_26_bits) / 9007199254740992.0;  // 2^26 and 2^53
  }

  void twist();
  void temper();
  std::uint32_t masked(std::uint32_t largest);
  const Binomial& binomial_of(double p);
  template <class Map>
  void fill(std::span<double> draws, const Map& map);

  std::array<std::uint32_t, kWords> words_;     // the state
  std::array<std::uint32_t, kWords> tempered_;  // what is drawn: all of it at once, as SIMD code
  std::size_t next_ = kWords;
  Binomial binomial_;
};

/// The sum as np.sum adds it: pairwise, in blocks of at most 128 with eight running sums.
double pairwise_sum(std::span<const double> values);

}  // namespace renar
