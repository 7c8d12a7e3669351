// Philox against known answers, the independence of its streams, and the distributions made of it.
#include "core/rng.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace renar::rng_test {
namespace {

TEST_CASE("rng: Philox 4x32-10 gives the known answers of Random123") {
  // kat_vectors: counter 0 0 0 0, key 0 0.
  CounterRng zero(0, Purpose{0}, 0, 0);
  for (const std::uint32_t known : {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}) {
    CHECK(zero.next() == known);
  }
  // Counters (0, 1, 7, 3) and (1, 1, 7, 3), key (89abcdef, 01234567), from the paper's formula in
  // Python.
  CounterRng keyed(0x0123456789abcdef, Purpose::kInitialisation, 7, 3);
  for (const std::uint32_t known : {0x73ff877cu, 0x77c631c1u, 0xdcc7c2bau, 0x97395836u, 0xff5660e0u,
                                    0x8020e4bfu, 0xf6d58b4eu, 0xd9955177u}) {
    CHECK(keyed.next() == known);
  }
}

TEST_CASE("rng: a stream depends on its key alone, and every part of the key counts") {
  CounterRng a(1, Purpose::kInitialisation, 2, 3), again(1, Purpose::kInitialisation, 2, 3);
  CounterRng seed(1 | std::uint64_t{1} << 32, Purpose::kInitialisation, 2, 3);
  CounterRng purpose(1, Purpose{2}, 2, 3), step(1, Purpose::kInitialisation, 3, 3);
  CounterRng sample(1, Purpose::kInitialisation, 2, 4);
  std::vector<std::uint32_t> first;
  for (int i = 0; i < 10; ++i) first.push_back(a.next());
  for (int i = 0; i < 10; ++i) {  // the other streams move in between
    CHECK(again.next() == first[static_cast<std::size_t>(i)]);
    for (CounterRng* other : {&seed, &purpose, &step, &sample}) {
      CHECK(other->next() != first[static_cast<std::size_t>(i)]);
    }
  }
}

TEST_CASE("rng: a stream can be entered at any block") {
  CounterRng all(5, Purpose::kDropout, 2, 3), part(5, Purpose::kDropout, 2, 3);
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < 40; ++i) numbers.push_back(all.next());
  for (const std::uint32_t block : {0u, 1u, 9u, 2u}) {
    part.skip_to(block);
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(part.next() == numbers[block * CounterRng::kBlock + k]);
    }
  }
}

TEST_CASE("rng: a derived seed is the first 64 bits of its key's stream") {
  CHECK(derived_seed(0, Purpose{0}, 0, 0) == 0x6627e8d5e169c58d);
  CHECK(derived_seed(0, Purpose{0}, 1, 0) != derived_seed(0, Purpose{0}, 0, 1));
}

TEST_CASE("rng: uniform numbers lie strictly inside (0, 1) and fill it evenly") {
  CHECK(CounterRng::inside_unit(0, 0) > 0);
  CHECK(CounterRng::inside_unit(0xffffffff, 0xffffffff) < 1);
  CHECK(CounterRng::inside_unit(0x80000000, 0) == doctest::Approx(0.5).epsilon(1e-15));
  CounterRng rng(5, Purpose::kInitialisation, 0, 0);
  constexpr int kCount = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = rng.uniform();
    if (!(value > 0 && value < 1)) FAIL("uniform() gave ", value);
    sum += value;
    squares += value * value;
  }
  CHECK(std::abs(sum / kCount - 0.5) < 0.004);          // four deviations of 0.289 / sqrt(1e5)
  CHECK(std::abs(squares / kCount - 1.0 / 3) < 0.004);  // of 0.298 / sqrt(1e5)
}

TEST_CASE("rng: normal numbers have the moments of a normal distribution") {
  CounterRng rng(6, Purpose::kInitialisation, 0, 0);
  constexpr int kCount = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = rng.normal();
    sum += value;
    squares += value * value;
    fourth += value * value * value * value;
  }
  CHECK(std::abs(sum / kCount) < 0.013);
  CHECK(std::abs(squares / kCount - 1) < 0.018);
  CHECK(std::abs(fourth / kCount - 3) < 0.13);
}

TEST_CASE("rng: Gumbel numbers have mean 0.5772 and variance pi^2 / 6") {
  CounterRng rng(8, Purpose::kGumbelNoise, 0, 0);
  constexpr int kCount = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = rng.gumbel();
    if (!std::isfinite(value)) FAIL("gumbel() gave ", value);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / kCount;
  CHECK(std::abs(mean - 0.577216) < 0.0163);                          // 4 * 1.2825 / sqrt(1e5)
  CHECK(std::abs(squares / kCount - mean * mean - 1.644934) < 0.05);  // kurtosis 5.4
}

TEST_CASE("rng: truncated normal numbers stay within two deviations, with variance 0.774") {
  // variance = 1 - 2 * 2 phi(2) / (Phi(2) - Phi(-2)) = 1 - 4 * 0.0539910 / 0.9544997 = 0.773741
  CounterRng rng(7, Purpose::kInitialisation, 0, 0);
  constexpr int kCount = 100000;
  double sum = 0, squares = 0, largest = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = rng.truncated_normal();
    largest = std::max(largest, std::abs(value));
    sum += value;
    squares += value * value;
  }
  CHECK(largest <= 2);
  CHECK(largest > 1.99);
  CHECK(std::abs(sum / kCount) < 0.012);
  CHECK(std::abs(squares / kCount - 0.773741) < 0.012);
}

}  // namespace
}  // namespace renar::rng_test
