// NumpyRandom against draws that numpy made (tests/golden/random, in the order of docs/model.md
// 11).
#include "core/numpy_random.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/npz.h"
#include "tests/source_dir.h"

namespace renar::numpy_random_test {
namespace {

template <class Draw>
std::vector<double> draws(int count, Draw draw) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<double>(draw()));
  return values;
}

std::vector<double> as_doubles(const std::vector<int>& values) {
  return {values.begin(), values.end()};
}

TEST_CASE("numpy_random: every draw equals numpy's, bit for bit") {
  const Npz golden = read_npz(test::source_dir() + "/tests/golden/random/random_state.npz");
  for (const std::uint32_t seed : {0u, 1u, 2u, 3u, 42u, 4294967295u}) {
    CAPTURE(seed);
    const auto expected = [&](const std::string& name) {
      return array_of(golden, "seed" + std::to_string(seed) + "/" + name).doubles();
    };
    NumpyRandom random(seed);
    CHECK(draws(5, [&] { return random.random_sample(); }) == expected("random_sample"));
    CHECK(random.uniform(-1, 1, 5) == expected("uniform"));
    CHECK(draws(9, [&] { return random.randint(0, 4); }) == expected("randint4"));
    CHECK(draws(3, [&] { return random.randint(0, 1ll << 32); }) == expected("randint_2_32"));
    CHECK(draws(9, [&] { return random.randint(0, 17); }) == expected("randint_17"));
    CHECK(draws(20, [&] { return random.binomial(0.5); }) == expected("binomial_half"));
    CHECK(draws(20, [&] { return random.binomial(0.9); }) == expected("binomial_09"));
    CHECK(draws(200, [&] { return random.binomial(0.01); }) == expected("binomial_001"));
    CHECK(as_doubles(random.permutation(16)) == expected("permutation"));
    const std::vector<double> list = {0.1, 0.2, 0.30000000000000004};
    CHECK(draws(6, [&] { return random.choice(list); }) == expected("choice_p"));
    CHECK(draws(6, [&] { return random.choice(16); }) == expected("choice_n"));
    CHECK(as_doubles(random.choice(1000, 32)) == expected("choice_batch"));
    CHECK(draws(1, [&] { return random.random_sample(); }) == expected("last"));
  }
}

TEST_CASE("numpy_random: the ends of the ranges, as numpy draws them") {
  NumpyRandom certain(7);
  CHECK(draws(5, [&] { return certain.binomial(0); }) == std::vector<double>(5, 0));
  CHECK(certain.random_sample() == 0x1.13b5bb10e3428p-1);  // each took its two words
  NumpyRandom always(7);
  CHECK(draws(5, [&] { return always.binomial(1); }) == std::vector<double>(5, 1));

  NumpyRandom one(9), untouched(9);  // one value to choose from takes no word
  CHECK(one.choice(std::vector<double>{0.5}) == 0.5);
  CHECK(one.choice(1) == 0);
  CHECK(one.permutation(1) == std::vector<int>{0});
  CHECK(one.permutation(0).empty());
  CHECK(one.random_sample() == untouched.random_sample());

  NumpyRandom negative(5);
  CHECK(draws(8, [&] { return negative.randint(-3, 5); }) ==
        std::vector<double>{0, 3, 4, 2, 3, 3, -3, -2});
}

TEST_CASE("numpy_random: a saved state goes on with the same draws") {
  NumpyRandom random(42);
  for (int i = 0; i < 1001; ++i) random.next_word();
  const std::vector<std::uint32_t> state = random.state();
  NumpyRandom other(1);
  other.set_state(state);
  for (int i = 0; i < 2000; ++i) REQUIRE(other.next_word() == random.next_word());

  CHECK_THROWS_AS(other.set_state(std::vector<std::uint32_t>(624)), Error);
  CHECK_THROWS_AS(other.set_state(std::vector<std::uint32_t>(625, 625)), Error);
}

TEST_CASE("numpy_random: many draws at once are those drawn one by one") {
  for (const double p : {0.2, 0.5, 0.9}) {
    CAPTURE(p);
    NumpyRandom at_once(4), one_by_one(4);
    for (int i = 0; i < 9; ++i) {  // blocks of 624 words end within, before and after a draw
      if (i % 3 == 0) CHECK(at_once.next_word() == one_by_one.next_word());
      std::vector<double> many(static_cast<std::size_t>(311 + i % 2));
      at_once.binomial(p, many);
      CHECK(many == draws(311 + i % 2, [&] { return one_by_one.binomial(p); }));
      at_once.uniform(-2, p, many);
      CHECK(many == draws(311 + i % 2, [&] { return one_by_one.uniform(-2, p); }));
    }
    CHECK(at_once.state() == one_by_one.state());
  }
  std::vector<double> none;
  NumpyRandom random(0);
  CHECK_THROWS_AS(random.binomial(1.5, none), Error);
}

TEST_CASE("numpy_random: what cannot be drawn is an error") {
  NumpyRandom random(0);
  CHECK_THROWS_AS(random.randint(3, 3), Error);
  CHECK_THROWS_AS(random.randint(0, (1ll << 32) + 1), Error);
  CHECK_THROWS_AS(random.randint(INT64_MIN, INT64_MAX), Error);
  CHECK_THROWS_AS(random.binomial(1.5), Error);
  CHECK_THROWS_AS(random.binomial(-0.1), Error);
  CHECK_THROWS_AS(random.choice(0), Error);
  CHECK_THROWS_AS(random.choice(std::vector<double>()), Error);
  CHECK_THROWS_AS(random.permutation(-1), Error);
}

TEST_CASE("numpy_random: sums are rounded as np.sum rounds them") {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(0.1 * i);
  const auto sum = [&](std::size_t n) { return pairwise_sum(std::span(values).first(n)); };
  CHECK(sum(0) == 0);
  CHECK(sum(5) == 1);
  CHECK(sum(7) == 0x1.0cccccccccccdp+1);
  CHECK(sum(8) == 0x1.6666666666667p+1);
  CHECK(sum(9) == 0x1.ccccccccccccep+1);
  CHECK(sum(15) == 0x1.5000000000001p+3);
  CHECK(sum(128) == 0x1.9666666666667p+9);
  CHECK(sum(129) == 0x1.9cccccccccccdp+9);
  CHECK(sum(200) == 0x1.f180000000000p+10);
  CHECK(sum(257) == 0x1.9b33333333334p+11);
  CHECK(sum(1000) == 0x1.863c000000000p+15);
}

TEST_CASE("numpy_random: binomial draws of several p in turn are those of each p alone") {
  NumpyRandom mixed(5), plain(5);
  for (int i = 0; i < 200; ++i) {
    const double p = i % 3 == 0 ? 0.2 : i % 3 == 1 ? 0.8 : 0.5;
    const double draw = plain.random_sample();  // at or below P(the more frequent) it is drawn
    CHECK(mixed.binomial(p) == (p > 0.5 ? draw <= p : draw > 1 - p));
  }
  CHECK(mixed.state() == plain.state());
  CHECK_THROWS_AS(mixed.binomial(1.5), Error);
  CHECK_THROWS_AS(mixed.binomial(-0.5), Error);
  CHECK_THROWS_AS(mixed.binomial(std::nan("")), Error);
}

}  // namespace
}  // namespace renar::numpy_random_test
