// products: sums of products, of all sizes of tile and with every tail, against gemm's definition.
#include "kernels/products.h"

#include <doctest/doctest.h>

#include "kernels/gemm.h"
#include "tests/kernels/device_products.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::products_test {
namespace {

using test::Inputs;
using test::Numbers;

struct Layer {
  std::int64_t rows, out;
  std::vector<std::int64_t> in;  // one a term
  int biases = 0;
  bool relu = false;
};

// Inputs: x and w of each term, then the biases.
test::DeviceCheck numbers_of(const Layer& layer) {
  test::DeviceCheck check;
  std::uint64_t seed = 1;
  for (const std::int64_t in : layer.in) {
    check.constants.push_back(Numbers::random({layer.rows, in}, seed++));
    check.constants.push_back(Numbers::random({in, layer.out}, seed++));
  }
  for (int b = 0; b < layer.biases; ++b) {
    check.constants.push_back(Numbers::random({layer.out}, seed++));
  }
  return check;
}

test::Op forward_of(const Layer& layer) {
  return [=](Tape& tape, const Inputs& in) {
    const Tensor y = tape.output({layer.rows, layer.out}, {});
    const std::size_t terms = layer.in.size();
    const auto biases = static_cast<std::size_t>(layer.biases);
    if (tape.device() == Device::kCpu) {
      for (std::size_t t = 0; t < terms; ++t) {
        const Tensor &x = in[2 * t], &w = in[2 * t + 1];
        gemm_definition(layer.rows, layer.out, x.cols(), {x.data, x.cols(), 1},
                        {w.data, layer.out, 1}, y.data, {.accumulate = t > 0});
      }
      for (std::int64_t i = 0; i < y.size(); ++i) {
        for (std::size_t b = 0; b < biases; ++b) {
          y.data[i] += in[2 * terms + b].data[i % layer.out];
        }
        if (layer.relu && !(y.data[i] > 0)) y.data[i] = 0;
      }
      return y;
    }
    ProductSum sum{.rows = layer.rows, .out = layer.out, .y = y.data, .relu = layer.relu};
    for (std::size_t t = 0; t < terms; ++t) {
      sum.term[sum.terms++] = {in[2 * t].data, in[2 * t + 1].data, in[2 * t].cols()};
    }
    for (std::size_t b = 0; b < biases; ++b) sum.bias[sum.biases++] = in[2 * terms + b].data;
    add_products(sum);
    return y;
  };
}

TEST_CASE("products: the kernel does as the definition at every tail") {
  for (const std::int64_t rows : {1, 3, 31, 32, 33, 65}) {
    for (const std::int64_t out : {1, 3, 8, 33, 64}) {
      const Layer layer{rows,
                        out,
                        {1 + (7 * rows + 5 * out) % 36, 64, 65},
                        static_cast<int>(rows % 3),
                        out % 2 == 0};
      CAPTURE(rows);
      CAPTURE(out);
      test::same_on_device(forward_of(layer), numbers_of(layer));
    }
  }
}

TEST_CASE("products: the kernel walks terms of all lengths") {
  for (const std::int64_t in : {0, 7, 15, 16, 17, 63, 64, 128, 130}) {
    CAPTURE(in);
    test::same_on_device(forward_of({20, 24, {in}, 1}), numbers_of({20, 24, {in}, 1}));
    test::same_on_device(forward_of({20, 24, {3, in, 1}}), numbers_of({20, 24, {3, in, 1}}));
  }
}

// Enough rows for the wide tiles.
const Layer kWide{64 * 64 - 5, 66, {17, 9}, 2, true};

TEST_CASE("products: the kernel does as the definition with wide tiles") {
  test::same_on_device(forward_of(kWide), numbers_of(kWide));
}

// Inputs: dy, then w and what dx holds of each term. Gives all dx, one after the other.
test::Op back_of(std::int64_t rows, std::int64_t out, const std::vector<std::int64_t>& ins) {
  return [=](Tape& tape, const Inputs& given) {
    std::int64_t size = 0;
    for (const std::int64_t in : ins) size += rows * in;
    const Tensor all = tape.output({size}, {});
    const Real* dy = given[0].data;
    Real* dx = all.data;
    for (std::size_t t = 0; t < ins.size(); ++t) {
      const Tensor &w = given[1 + 2 * t], &held = given[2 + 2 * t];
      queue_copy(tape.device(), dx, held.data,
                 static_cast<std::size_t>(held.size()) * sizeof(Real));
      if (tape.device() == Device::kCpu) {
        gemm_definition(rows, ins[t], out, {dy, out, 1}, {w.data, 1, out}, dx,
                        {.accumulate = true});
      } else {
        add_to_input(rows, ins[t], out, dy, w.data, dx);
      }
      dx += rows * ins[t];
    }
    return all;
  };
}
test::DeviceCheck back_numbers(std::int64_t rows, std::int64_t out,
                               const std::vector<std::int64_t>& ins) {
  test::DeviceCheck check{.inputs = {}, .constants = {Numbers::random({rows, out}, 1)}};
  for (const std::int64_t in : ins) {
    check.constants.push_back(Numbers::random({in, out}, 2));
    check.constants.push_back(Numbers::random({rows, in}, 3));
  }
  return check;
}

// Enough rows for the broad tiles.
const Layer kBroad{264 * 128 - 5, 66, {17, 9}, 2, true};

TEST_CASE("products: the kernel does as the definition with broad tiles") {
  test::same_on_device(forward_of(kBroad), numbers_of(kBroad));
  test::same_on_device(back_of(kBroad.rows, 19, {67}), back_numbers(kBroad.rows, 19, {67}));
}

TEST_CASE("products: the kernel adds to all inputs of a layer") {
  for (const std::int64_t rows : {1, 20, 33, 65}) {
    for (const std::int64_t out : {1, 8, 70, 128}) {
      for (const std::vector<std::int64_t>& ins :
           {std::vector<std::int64_t>{1}, {33, 3, 64}, {8, 8, 65, 1, 2, 32}}) {
        test::same_on_device(back_of(rows, out, ins), back_numbers(rows, out, ins));
      }
    }
  }
  const std::vector<std::int64_t> wide{66, 3};
  test::same_on_device(back_of(64 * 64 - 5, 11, wide), back_numbers(64 * 64 - 5, 11, wide));
}

// Constants: dy, w, what dx holds, and what relu gave.
test::Op ended_by_relu(std::int64_t rows, std::int64_t in, std::int64_t out) {
  return [=](Tape& tape, const Inputs& given) {
    const Tensor &dy = given[0], &w = given[1], &held = given[2], &y = given[3];
    const Tensor dx = tape.output({rows, in}, {});
    queue_copy(tape.device(), dx.data, held.data,
               static_cast<std::size_t>(held.size()) * sizeof(Real));
    if (tape.device() != Device::kCpu) {
      CHECK_FALSE(end_with_relu(rows, in, y.data, dx.data));  // nothing is collected for it
      add_to_input(rows, in, out, dy.data, w.data, dx.data);
      CHECK(end_with_relu(rows, in, y.data, dx.data));
      CHECK_FALSE(end_with_relu(rows, in, y.data, dx.data));  // what is ended is not added to
      return dx;
    }
    gemm_definition(rows, in, out, {dy.data, out, 1}, {w.data, 1, out}, dx.data,
                    {.accumulate = true});
    for (std::int64_t i = 0; i < dx.size(); ++i) {
      if (!(y.data[i] > 0)) dx.data[i] = 0;
    }
    return dx;
  };
}

TEST_CASE("products: relu's backward ends the product that gives its gradient") {
  const auto check = [](std::int64_t rows, std::int64_t in, std::int64_t out) {
    CAPTURE(rows);
    CAPTURE(in);
    test::same_on_device(
        ended_by_relu(rows, in, out),
        {.inputs = {},
         .constants = {Numbers::random({rows, out}, 1), Numbers::random({in, out}, 2),
                       Numbers::random({rows, in}, 3), Numbers::random({rows, in}, 4)}});
  };
  for (const std::int64_t rows : {1, 5, 33}) {
    for (const std::int64_t in : {1, 3, 8, 34}) check(rows, in, 20);
  }
  check(64 * 64 - 5, 66, 9);
  check(264 * 128 - 5, 67, 9);
}

// Layers of one kernel and layers that must wait for others, in one order: what comes out shows
// whether any was computed too early.
test::Op chain() {
  return [](Tape& tape, const Inputs& in) {
    const Device device = tape.device();
    constexpr std::int64_t kRows = 33, kWidth = 40;
    const Tensor all = tape.output({5, kRows, kWidth}, {});
    queue_copy(device, all.data, in[0].data, static_cast<std::size_t>(all.size()) * sizeof(Real));
    const auto at = [&](int i) { return all.data + i * kRows * kWidth; };
    const Real *w = in[1].data, *x = in[2].data;
    const auto forward = [&](const Real* from, Real* to) {
      if (device != Device::kCpu) {
        return add_products(
            {.rows = kRows, .out = kWidth, .y = to, .terms = 1, .term = {{from, w, kWidth}}});
      }
      gemm_definition(kRows, kWidth, kWidth, {from, kWidth, 1}, {w, kWidth, 1}, to, {});
    };
    const auto back = [&](const Real* from, Real* to) {
      if (device != Device::kCpu) return add_to_input(kRows, kWidth, kWidth, from, w, to);
      gemm_definition(kRows, kWidth, kWidth, {from, kWidth, 1}, {w, 1, kWidth}, to,
                      {.accumulate = true});
    };
    forward(x, at(0));
    forward(x, at(1));
    forward(at(1), at(2));  // reads what is collected
    forward(x, at(1));      // overwrites what is read
    forward(x, at(0));
    forward(at(2), at(0));  // overwrites what is written
    back(at(0), at(3));
    back(at(1), at(3));  // joins
    back(at(1), at(4));
    back(at(3), at(4));  // reads what is added to
    back(x, at(3));
    back(x, at(3) + kWidth * (kRows - 1) - kWidth * kRows);  // meets at(2), and at(3) in part
    return all;
  };
}

TEST_CASE("products: layers that need each other are not collected together") {
  test::same_on_device(chain(),
                       {.inputs = {},
                        .constants = {Numbers::random({5, 33, 40}, 1), Numbers::random({40, 40}, 2),
                                      Numbers::random({33, 40}, 3)},
                        .tolerance = 1e2 * test::kRounding});
}

TEST_CASE("products: more layers than one kernel takes") {
  const test::Op op = [](Tape& tape, const Inputs& in) {
    const Tensor all = tape.output({40, 3, 5}, {});
    for (int i = 0; i < 40; ++i) {
      Real* y = all.data + i * 15;
      if (tape.device() == Device::kCpu) {
        for (int t = 0; t < 6; ++t) {
          gemm_definition(3, 5, 4, {in[0].data + t, 4, 1}, {in[1].data + i, 5, 1}, y,
                          {.accumulate = t > 0});
        }
        for (int e = 0; e < 15; ++e) y[e] += 2 * in[1].data[e % 5];
        continue;
      }
      ProductSum sum{.rows = 3, .out = 5, .y = y};
      for (int t = 0; t < 6; ++t) sum.term[sum.terms++] = {in[0].data + t, in[1].data + i, 4};
      for (int b = 0; b < 2; ++b) sum.bias[sum.biases++] = in[1].data;
      add_products(sum);
    }
    return all;
  };
  test::same_on_device(
      op, {.inputs = {}, .constants = {Numbers::random({20}, 1), Numbers::random({60}, 2)}});
}

TEST_CASE("products: no barrier can be left out" * doctest::skip(test::kSanitized)) {
  const Layer narrow{20, 24, {300, 70}};
  test::needs_every_barrier(forward_of(narrow), numbers_of(narrow));
  test::needs_every_barrier(forward_of(kWide), numbers_of(kWide));
  test::needs_every_barrier(forward_of(kBroad), numbers_of(kBroad));
  test::needs_every_barrier(back_of(20, 300, {24}), back_numbers(20, 300, {24}));
}

TEST_CASE("products: equal rows of x give bit-equal rows of y on the device too") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  for (const std::int64_t out : {1, 19, 128}) {
    test::check_equal_rows(*device, 70, 300, out, Precision::kFp32);
  }
  test::check_equal_rows(*device, 264 * 128, 20, 128, Precision::kFp32);
}

// As samples end, a layer has fewer rows, and other tiles: those that remain must not notice.
TEST_CASE("products: a row has the same bits in broad and in wide tiles on the device") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  constexpr std::int64_t kMany = 264 * 128, kFew = 64 * 64, kIn = 40, kOut = 70;
  test::FreshTape fresh(Tape::Mode::kPredict, *device);
  Tape& tape = fresh.tape;
  Real* host = tape.host_array<Real>(kMany * kIn + kIn * kOut);
  const std::vector<Real> numbers = test::random_values(kMany * kIn + kIn * kOut, 1);
  std::copy(numbers.begin(), numbers.end(), host);
  const Real* w = tape.send<Real>(host, kMany * kIn + kIn * kOut);
  const auto product = [&](std::int64_t rows) {
    Real* y = tape.array<Real>(rows * kOut);
    add_products(
        {.rows = rows, .out = kOut, .y = y, .terms = 1, .term = {{w + kIn * kOut, w, kIn}}});
    const Real* here = tape.fetch(y, kFew * kOut);
    return std::vector<Real>(here, here + kFew * kOut);
  };
  CHECK(product(kMany) == product(kFew));
}

}  // namespace
}  // namespace renar::products_test
