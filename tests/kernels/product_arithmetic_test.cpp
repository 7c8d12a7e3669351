// The products of a device in tf32 and bf16, against a product on the CPU of factors that were
// rounded before: what the rounding changes is 20 times the tolerance and more.
#include "kernels/product_arithmetic.cuh"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/gemm.h"
#include "kernels/learned_sums.h"
#include "kernels/linear.h"
#include "kernels/products.h"
#include "tests/kernels/device_products.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::product_arithmetic_test {
namespace {

using test::Inputs;
using test::Numbers;

constexpr double kTolerance = 1e-5;  // sums are float in every build
constexpr Precision kRounded[] = {Precision::kTf32, Precision::kBf16};

double rounded(Real x, Precision precision) {
  const auto number = static_cast<float>(x);
  switch (precision) {
    case Precision::kFp32: return number;
    case Precision::kTf32: return rounded_to_tf32(number);
    case Precision::kBf16: return rounded_to_bf16(number);
  }
  return 0;
}

// c (m,n) += a b of rounded factors.
void add_rounded(std::int64_t m, std::int64_t n, std::int64_t k, const Factor& a, const Factor& b,
                 Real* c, Precision precision) {
  std::vector<double> column(static_cast<std::size_t>(k));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t l = 0; l < k; ++l) {
      column[static_cast<std::size_t>(l)] = rounded(b.data[l * b.row + j * b.col], precision);
    }
    for (std::int64_t i = 0; i < m; ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        sum +=
            rounded(a.data[i * a.row + l * a.col], precision) * column[static_cast<std::size_t>(l)];
      }
      c[i * n + j] += static_cast<Real>(sum);
    }
  }
}

struct Layer {
  std::int64_t rows, out;
  std::vector<std::int64_t> in;  // one a term
  Precision precision;
  int biases = 0;
  bool relu = false;
  std::int64_t nodes = 0;  // of a layer on edges, else 0
};

// Inputs: x and w of each term, then the biases, then send and recv.
test::DeviceCheck numbers_of(const Layer& layer) {
  test::DeviceCheck check{.inputs = {}, .tolerance = kTolerance};
  std::uint64_t seed = 1;
  const auto add = [&](const Shape& shape) {
    check.constants.push_back(Numbers::random(shape, seed++));
  };
  for (const std::int64_t in : layer.in) add({layer.rows, in}), add({in, layer.out});
  for (int b = 0; b < layer.biases; ++b) add({layer.out});
  for (int end = 0; end < 2 && layer.nodes > 0; ++end) add({layer.rows / layer.nodes, layer.out});
  return check;
}

void forward_on_cpu(const Layer& layer, const ProductSum& sum) {
  std::fill_n(sum.y, sum.rows * sum.out, Real{0});
  for (int t = 0; t < sum.terms; ++t) {
    const auto& [x, w, in] = sum.term[t];
    add_rounded(sum.rows, sum.out, in, {x, in, 1}, {w, sum.out, 1}, sum.y, layer.precision);
  }
  for (std::int64_t i = 0; i < sum.rows; ++i) {
    for (std::int64_t j = 0; j < sum.out; ++j) {
      Real& y = sum.y[i * sum.out + j];
      if (layer.nodes > 0) {
        const std::int64_t n = layer.nodes;
        y += sum.send[i / n * sum.out + j] + sum.recv[(i / n / n * n + i % n) * sum.out + j];
      }
      for (int b = 0; b < sum.biases; ++b) y += sum.bias[b][j];
      if (sum.relu && !(y > 0)) y = 0;
    }
  }
}

test::Op forward_of(const Layer& layer) {
  return [=](Tape& tape, const Inputs& given) {
    const Tensor y = tape.output({layer.rows, layer.out}, {});
    ProductSum sum{.rows = layer.rows,
                   .out = layer.out,
                   .y = y.data,
                   .relu = layer.relu,
                   .precision = layer.precision};
    std::size_t at = 0;
    for (const std::int64_t in : layer.in) {
      sum.term[sum.terms++] = {given[at].data, given[at + 1].data, in};
      at += 2;
    }
    for (int b = 0; b < layer.biases; ++b) sum.bias[sum.biases++] = given[at++].data;
    if (layer.nodes > 0) {
      sum.send = given[at].data, sum.recv = given[at + 1].data, sum.nodes = layer.nodes;
    }
    tape.device() == Device::kCpu ? forward_on_cpu(layer, sum) : add_products(sum);
    return y;
  };
}

void check_forward(const Layer& layer) {
  test::same_on_device(forward_of(layer), numbers_of(layer));
}

constexpr std::int64_t kRows[] = {1, 3, 33, 64, 200};
constexpr std::int64_t kWidths[] = {1, 8, 16, 24, 128};

TEST_CASE("product_arithmetic: products of rounded factors at every tail") {
  for (const Precision precision : kRounded) {
    for (const std::int64_t rows : kRows) {
      for (const std::int64_t out : kWidths) {
        CAPTURE(name_of(precision));
        CAPTURE(rows);
        CAPTURE(out);
        const std::int64_t in = kWidths[(rows + out) % 5];
        check_forward({rows, out, {in, 65, 3}, precision, static_cast<int>(rows % 3), true});
      }
    }
    for (const std::int64_t in : {0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 128, 130}) {
      CAPTURE(in);
      check_forward({20, 24, {in}, precision});
    }
  }
}

TEST_CASE("product_arithmetic: layers on edges, and wide tiles") {
  for (const Precision precision : kRounded) {
    for (const std::int64_t n : {1, 3, 5}) {
      check_forward({2 * n * n, 33, {17, 4}, precision, 1, n % 2 == 0, n});
    }
    check_forward({64 * 64 - 5, 66, {17, 40}, precision, 2, true});
    check_forward({256 * 16, 70, {33}, precision, 1, true, 16});
  }
}

// Inputs: dy, w and what dx holds.
test::Op back_of(std::int64_t rows, std::int64_t in, std::int64_t out, Precision precision) {
  return [=](Tape& tape, const Inputs& given) {
    const Tensor dx = tape.output({rows, in}, {});
    const Real *dy = given[0].data, *w = given[1].data;
    queue_copy(tape.device(), dx.data, given[2].data,
               static_cast<std::size_t>(dx.size()) * sizeof(Real));
    if (tape.device() == Device::kCpu) {
      add_rounded(rows, in, out, {dy, out, 1}, {w, 1, out}, dx.data, precision);
    } else {
      add_to_input(rows, in, out, dy, w, dx.data, precision);
    }
    return dx;
  };
}
test::DeviceCheck back_numbers(std::int64_t rows, std::int64_t in, std::int64_t out) {
  return {.inputs = {},
          .constants = {Numbers::random({rows, out}, 1), Numbers::random({in, out}, 2),
                        Numbers::random({rows, in}, 3)},
          .tolerance = kTolerance};
}

TEST_CASE("product_arithmetic: gradients of inputs") {
  for (const Precision precision : kRounded) {
    for (const std::int64_t rows : kRows) {
      for (const std::int64_t in : kWidths) {
        const std::int64_t out = kWidths[(rows + in) % 5];
        CAPTURE(name_of(precision));
        CAPTURE(rows);
        CAPTURE(in);
        CAPTURE(out);
        test::same_on_device(back_of(rows, in, out, precision), back_numbers(rows, in, out));
      }
    }
    test::same_on_device(back_of(64 * 64 - 5, 66, 11, precision),
                         back_numbers(64 * 64 - 5, 66, 11));
  }
}

test::Op weight_of(std::int64_t in, std::int64_t out, std::size_t uses, Precision precision) {
  const auto add_use = [=](const Tensor& x, const Tensor& dy, Real* dw) {
    add_rounded(in, out, dy.rows(), {x.data, 1, in}, {dy.data, out, 1}, dw, precision);
  };
  return test::learned_of(in, out, uses, add_use, precision);
}

TEST_CASE("product_arithmetic: gradients of weights, in one part and in many") {
  const std::vector<std::int64_t> all_uses[] = {{1}, {3, 64, 33}, {300, 1, 129}};
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{1, 1},   {8, 16},   {16, 24},
                                                          {128, 8}, {24, 128}, {70, 66}};
  for (const Precision precision : kRounded) {
    for (const std::vector<std::int64_t>& rows : all_uses) {
      for (const auto& [in, out] : shapes) {
        CAPTURE(name_of(precision));
        CAPTURE(in);
        CAPTURE(out);
        test::same_on_device(weight_of(in, out, rows.size(), precision),
                             test::learned_numbers(in, out, rows, kTolerance));
      }
    }
  }
}

// y, dx and dw of a layer, on a tape of that precision.
std::vector<std::vector<Real>> layer_on(Device device, Precision precision) {
  constexpr std::int64_t kBatch = 20, kIn = 24, kOut = 16;
  Tape tape(device, precision);
  std::vector<Real> unused(1);
  tape.start(Tape::Mode::kRecord, unused.data(), unused.data());
  const auto send = [&](const Shape& shape, std::uint64_t seed) {
    const Tensor there = tape.lasting_output(shape, true);
    const std::vector<Real> values = test::random_values(shape.size(), seed);
    copy_to_device(device, there.data, values.data(), values.size() * sizeof(Real));
    return there;
  };
  const Tensor x = send({kBatch, kIn}, 1), w = send({kIn, kOut}, 2);
  const Tensor y = linear(tape, {{x, w}}, {});
  const std::vector<Real> dy = test::random_values(y.size(), 3);
  copy_to_device(device, y.grad, dy.data(), dy.size() * sizeof(Real));
  tape.backward();
  const auto fetch = [&](const Real* there, std::int64_t size) {
    const Real* here = tape.fetch(there, size);
    return std::vector<Real>(here, here + size);
  };
  return {fetch(y.data, y.size()), fetch(x.grad, x.size()), fetch(w.grad, w.size())};
}

TEST_CASE(
    "product_arithmetic: a layer's products, forward and backward, have the tape's precision") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  const auto want = layer_on(*device, Precision::kFp32);
  for (const Precision precision : kRounded) {
    const double u = precision == Precision::kTf32 ? 0x1p-11 : 0x1p-8;
    const auto got = layer_on(*device, precision);
    for (std::size_t p = 0; p < want.size(); ++p) {
      double most = 0, largest = 0;
      for (std::size_t i = 0; i < want[p].size(); ++i) {
        const double error = std::abs(double{got[p][i]} - double{want[p][i]});
        if (!(error <= most)) most = std::isfinite(error) ? error : HUGE_VAL;
        largest = std::max(largest, std::abs(double{want[p][i]}));
      }
      CAPTURE(name_of(precision));
      CAPTURE(p);
      CHECK(most < 2 * u * largest);
      CHECK(most > u / 16 * largest);
    }
  }
}

TEST_CASE("product_arithmetic: layers of two precisions are not collected together") {
  constexpr std::int64_t kSize = 20;
  const test::Op op = [](Tape& tape, const Inputs& given) {
    const Tensor all = tape.output({3, kSize, kSize}, {});
    Real* y = all.data;
    for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kBf16}) {
      const ProductSum sum{.rows = kSize,
                           .out = kSize,
                           .y = y,
                           .terms = 1,
                           .term = {{given[0].data, given[1].data, kSize}},
                           .precision = precision};
      tape.device() == Device::kCpu
          ? forward_on_cpu({.rows = kSize, .out = kSize, .in = {}, .precision = precision}, sum)
          : add_products(sum);
      y += kSize * kSize;
    }
    return all;
  };
  test::same_on_device(
      op, {.inputs = {},
           .constants = {Numbers::random({kSize, kSize}, 1), Numbers::random({kSize, kSize}, 2)},
           .tolerance = kTolerance});
}

TEST_CASE("product_arithmetic: no barrier can be left out" * doctest::skip(test::kSanitized)) {
  for (const Precision precision : kRounded) {
    const Layer layer{20, 24, {300, 70}, precision};
    test::needs_every_barrier(forward_of(layer), numbers_of(layer));
    test::needs_every_barrier(back_of(20, 24, 300, precision), back_numbers(20, 24, 300));
    test::needs_every_barrier(weight_of(40, 66, 2, precision),
                              test::learned_numbers(40, 66, {300, 70}, kTolerance));
  }
}

TEST_CASE("product_arithmetic: equal rows of x give bit-equal rows of y") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  for (const Precision precision : kRounded) {
    for (const std::int64_t rows : {70, 64 * 64}) {  // narrow tiles, wide tiles
      test::check_equal_rows(*device, rows, 70, 66, precision);
    }
  }
}

}  // namespace
}  // namespace renar::product_arithmetic_test
