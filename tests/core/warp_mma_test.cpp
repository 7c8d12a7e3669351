// Products of tensor cores: how factors are rounded, and that each number of a fragment is the one
// that the PTX ISA says. The formulas of its tables stand here a second time. In every build these
// are fibers; a GPU's own instructions are those of tests/kernels/product_arithmetic_test.cpp.
#include "core/warp_mma.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/check.h"
#include "core/launch.h"

namespace renar::warp_mma_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST_CASE("warp_mma: tf32 is the nearest of 10 bits, halves away from zero") {
  const float step = std::ldexp(1.0f, -10), half = step / 2, ulp = std::ldexp(1.0f, -23);
  for (const float sign : {1.0f, -1.0f}) {
    CHECK(rounded_to_tf32(sign) == sign);
    CHECK(rounded_to_tf32(sign * (1 + half - ulp)) == sign);
    CHECK(rounded_to_tf32(sign * (1 + half)) == sign * (1 + step));
    CHECK(rounded_to_tf32(sign * (1 + step + half)) == sign * (1 + 2 * step));
    CHECK(rounded_to_tf32(sign * (2 - ulp)) == sign * 2);
    CHECK(rounded_to_tf32(sign * kInfinity) == sign * kInfinity);
    CHECK(rounded_to_tf32(sign * std::numeric_limits<float>::max()) == sign * kInfinity);
  }
  CHECK(std::isnan(rounded_to_tf32(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("warp_mma: bf16 is the nearest of 7 bits, halves to even") {
  const float step = std::ldexp(1.0f, -7), half = step / 2, ulp = std::ldexp(1.0f, -23);
  for (const float sign : {1.0f, -1.0f}) {
    CHECK(rounded_to_bf16(sign) == sign);
    CHECK(rounded_to_bf16(sign * (1 + half)) == sign);
    CHECK(rounded_to_bf16(sign * (1 + half + ulp)) == sign * (1 + step));
    CHECK(rounded_to_bf16(sign * (1 + step + half)) == sign * (1 + 2 * step));
    CHECK(rounded_to_bf16(sign * (1 + step + half - ulp)) == sign * (1 + step));
    CHECK(rounded_to_bf16(sign * kInfinity) == sign * kInfinity);
    CHECK(rounded_to_bf16(sign * std::numeric_limits<float>::max()) == sign * kInfinity);
  }
  CHECK(std::isnan(rounded_to_bf16(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("warp_mma: words") {
  CHECK(Tf32::word(1 + std::ldexp(1.0f, -11)) == 0x3f802000u);
  CHECK(Bf16::word(1 + std::ldexp(1.0f, -8), -2) == 0xc0003f80u);
}

// Number i of a lane's fragment: where it stands in its matrix. g is groupID, t threadID_in_group.
struct Spot {
  int row, col;
};
struct Tf32Layout {
  using Format = Tf32;
  static constexpr int kDeep = 8;

  static Spot of_a(int g, int t, int i) {
    return {i == 0 || i == 2 ? g : g + 8, i == 0 || i == 1 ? t : t + 4};
  }
  static Spot of_b(int g, int t, int i) { return {i == 0 ? t : t + 4, g}; }
  static std::uint32_t word(const float* numbers) { return Tf32::word(numbers[0]); }
};
struct Bf16Layout {
  using Format = Bf16;
  static constexpr int kDeep = 16;

  static Spot of_a(int g, int t, int i) {
    return {i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  }
  static Spot of_b(int g, int t, int i) { return {t * 2 + (i & 1) + (i < 2 ? 0 : 8), g}; }
  static std::uint32_t word(const float* numbers) { return Bf16::word(numbers[0], numbers[1]); }
};
Spot spot_of_c(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }

// c (16,8) += a (16,kDeep) b (kDeep,8), a warp a block.
template <class Layout>
__global__ void multiply_once(const float* a, const float* b, float* c) {
  constexpr int kDeep = Layout::kDeep, kPerWord = Layout::Format::kPerWord;
  const int g = lane_index() / 4, t = lane_index() % 4;
  WarpA of_a;
  WarpB of_b;
  WarpC of_c;
  float numbers[8];
  for (int i = 0; i < 4 * kPerWord; ++i) {
    const Spot at = Layout::of_a(g, t, i);
    numbers[i] = a[at.row * kDeep + at.col];
  }
  for (int i = 0; i < 4; ++i) of_a[i] = Layout::word(numbers + i * kPerWord);
  for (int i = 0; i < 2 * kPerWord; ++i) {
    const Spot at = Layout::of_b(g, t, i);
    numbers[i] = b[at.row * 8 + at.col];
  }
  for (int i = 0; i < 2; ++i) of_b[i] = Layout::word(numbers + i * kPerWord);
  for (int i = 0; i < 4; ++i) {
    const Spot at = spot_of_c(g, t, i);
    of_c[i] = c[at.row * 8 + at.col];
  }
  Layout::Format::multiply_add(of_a, of_b, of_c);
  for (int i = 0; i < 4; ++i) {
    const Spot at = spot_of_c(g, t, i);
    c[at.row * 8 + at.col] = of_c[i];
  }
}

// Whole numbers, so that every sum is exact and any two that are exchanged show.
template <class Layout>
void check_product() {
  constexpr int kDeep = Layout::kDeep;
  std::vector<float> a(16 * kDeep), b(kDeep * 8), c(16 * 8), want(16 * 8);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 37 % 101) - 50;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 53 % 97) - 48;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i * 1000);
  for (int row = 0; row < 16; ++row) {
    for (int col = 0; col < 8; ++col) {
      const auto at = static_cast<std::size_t>(row * 8 + col);
      want[at] = c[at];
      for (int k = 0; k < kDeep; ++k) {
        want[at] +=
            a[static_cast<std::size_t>(row * kDeep + k)] * b[static_cast<std::size_t>(k * 8 + col)];
      }
    }
  }
  for (const simt::Order order : {simt::Order::kForward, simt::Order::kRandom}) {
    simt::set_schedule({order, 1});
    std::vector<float> got = c;
    launch({{1}, {kWarp}}, multiply_once<Layout>, a.data(), b.data(), got.data());
    simt::set_schedule({});
    CHECK(got == want);
  }
}

TEST_CASE("warp_mma: each number of the fragments is where the PTX ISA has it") {
  check_product<Tf32Layout>();
  check_product<Bf16Layout>();
}

__global__ void multiply_words(const std::uint32_t* a, float* c) {
  const WarpA of_a = {a[0], a[0], a[0], a[0]};
  const WarpB of_b = {Tf32::word(1), 0};
  WarpC of_c = {0, 0, 0, 0};
  Tf32::multiply_add(of_a, of_b, of_c);
  c[threadIdx.x] = of_c[0];
}

TEST_CASE("warp_mma: what a tf32 has no room for is not seen") {
  const float one_and_more = 1 + std::ldexp(1.0f, -11);
  std::uint32_t bits;
  std::memcpy(&bits, &one_and_more, sizeof bits);
  std::vector<float> c(kWarp);
  launch({{1}, {kWarp}}, multiply_words, &bits, c.data());
  CHECK(c == std::vector<float>(kWarp, 4));  // four words along k, each 1 times 1
}

template <class Layout>
__global__ void multiply_without_one(const float* a, const float* b, float* c) {
  if (threadIdx.x == 9) return;
  multiply_once<Layout>(a, b, c);
}

TEST_CASE("warp_mma: a lane that is elsewhere is an error") {
  const std::vector<float> a(16 * 16), b(16 * 8);
  std::vector<float> c(16 * 8);
  CHECK_THROWS_AS(
      launch({{1}, {kWarp}}, multiply_without_one<Bf16Layout>, a.data(), b.data(), c.data()),
      Error);
  CHECK_THROWS_AS(launch({{1}, {16}}, multiply_once<Tf32Layout>, a.data(), b.data(), c.data()),
                  Error);
}

}  // namespace
}  // namespace renar::warp_mma_test
