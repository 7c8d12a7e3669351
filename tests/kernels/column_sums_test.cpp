// column_sums: by hand, and the kernel against it.
#include "kernels/column_sums.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "kernels/accumulate.h"
#include "tests/support_device.h"

namespace renar {
namespace {

using test::Inputs;
using test::Numbers;

TEST_CASE("column_sums: by hand; it adds") {
  const std::vector<Real> x{1, 2, 3, 4, 5, 6};
  std::vector<Real> sums{100, 200, 300};
  add_column_sums(Device::kCpu, 2, 3, x.data(), sums.data());
  CHECK(sums == std::vector<Real>{105, 207, 309});
}

TEST_CASE("column_sums: the kernel does as the definition") {
  for (const std::int64_t rows : {1, 5, 16, 33, 400}) {
    for (const std::int64_t cols : {1, 3, 8, 32, 33, 128}) {
      const test::Op op = [&](Tape& tape, const Inputs& in) {
        const Tensor sums = tape.output(in[1].shape, {});
        copy_on_device(tape.device(), sums.data, in[1].data, sums.size() * sizeof(Real));
        add_column_sums(tape.device(), rows, cols, in[0].data, sums.data);
        return sums;
      };
      test::same_on_device(
          op, {.inputs = {},
               .constants = {Numbers::random({rows, cols}, 1), Numbers::random({cols}, 2)}});
    }
  }
}

TEST_CASE("column_sums: the kernel adds nothing past the last column, not even 0") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  constexpr std::int64_t kRows = 20, kCols = 40, kLine = 64;
  const Real end = Real{-0.0};  // adding 0 makes it 0
  test::FreshTape fresh(Tape::Mode::kPredict, *device);
  Real* x = fresh.tape.host_array<Real>(kRows * kCols);
  std::fill_n(x, kRows * kCols, Real{1});
  Tensor sums = fresh.tape.host_constant({kLine});
  std::fill_n(sums.data, kLine, end);
  sums = fresh.tape.send(sums);
  add_column_sums(*device, kRows, kCols, fresh.tape.send<Real>(x, kRows * kCols), sums.data);
  const Real* got = fresh.tape.fetch(sums.data, kLine);
  for (std::int64_t c = 0; c < kLine; ++c) {
    CHECK(got[c] == (c < kCols ? kRows : 0));
    CHECK(std::signbit(got[c]) == (c >= kCols));
  }
}

TEST_CASE("column_sums: no barrier can be left out") {
  const test::Op op = [&](Tape& tape, const Inputs& in) {
    const Tensor sums = tape.output({40}, {});
    fill_bytes(tape.device(), sums.data, 0, 40 * sizeof(Real));
    add_column_sums(tape.device(), 50, 40, in[0].data, sums.data);
    return sums;
  };
  test::needs_every_barrier(op, {.inputs = {}, .constants = {Numbers::random({50, 40}, 1)}});
}

}  // namespace
}  // namespace renar
