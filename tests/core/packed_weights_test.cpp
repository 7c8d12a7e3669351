#include "core/packed_weights.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace renar::packed_weights_test {
namespace {

// w[r, c] = 1000 (1 + which) + 100 r + c
Parameters numbered() {
  Parameters parameters;
  const Param params[] = {parameters.add("shared", {70, 5}), parameters.add("bias", {5}),
                          parameters.add("other task", {4, 4}), parameters.add("own", {3, 40}),
                          parameters.add("column", {9, 1})};
  Real which = 1000;
  for (const Param& param : params) {
    const std::int64_t cols = param.shape[param.shape.rank - 1];
    for (std::int64_t i = 0; i < param.shape.size(); ++i) {
      parameters.at(param)[i] = which + static_cast<Real>(i / cols * 100 + i % cols);
    }
    which += 10000;
  }
  return parameters;
}

Param entry(const Parameters& parameters, const char* name) { return parameters.find(name).param; }

ActiveParameters all_but_other(const Parameters& parameters) {
  return {entry(parameters, "other task").offset, entry(parameters, "own").offset,
          parameters.size()};
}

// Element (row, col) of the factor that the panels are of.
Real at(const Panels& panels, std::int64_t row, std::int64_t col) {
  return panels.data[col / kPanel * panels.apart + row * kPanel + col % kPanel];
}

TEST_CASE("packed weights: panels of a matrix, its transpose and its rows, zero beyond the end") {
  const Parameters parameters = numbered();
  PackedWeights packed;
  packed.pack(parameters, all_but_other(parameters), 2);
  for (const char* name : {"shared", "own"}) {
    const Param param = entry(parameters, name);
    const std::int64_t rows = param.shape[0], cols = param.shape[1];
    const Real* w = parameters.at(param);
    const Panels straight = packed.of(w, cols), turned = packed.of_transposed(w, cols);
    REQUIRE(straight.data != nullptr);
    REQUIRE(turned.data != nullptr);
    const auto rounded = [](std::int64_t n) { return (n + kPanel - 1) / kPanel * kPanel; };
    for (std::int64_t r = 0; r < rounded(rows); ++r) {
      for (std::int64_t c = 0; c < rounded(cols); ++c) {
        const Real value = r < rows && c < cols ? w[r * cols + c] : Real{0};
        if (r < rows) CHECK(at(straight, r, c) == value);
        if (c < cols) CHECK(at(turned, c, r) == value);
      }
    }
  }
  const Real* shared = parameters.at(entry(parameters, "shared"));
  CHECK(at(packed.of(shared + 7 * 5, 5), 2, 3) == shared[9 * 5 + 3]);
  CHECK(at(packed.of_transposed(shared + 32 * 5, 5), 3, 2) == shared[34 * 5 + 3]);
}

TEST_CASE("packed weights: what was not cut has no panels") {
  const Parameters parameters = numbered();
  PackedWeights packed;
  const Real* shared = parameters.at(entry(parameters, "shared"));
  CHECK(packed.of(shared, 5).data == nullptr);
  packed.pack(parameters, all_but_other(parameters), 1);
  CHECK(packed.of_transposed(shared + 7 * 5, 5).data == nullptr);  // not the first row of a panel
  CHECK(packed.of(shared + 1, 5).data == nullptr);
  CHECK(packed.of(shared, 7).data == nullptr);
  CHECK(packed.of(shared - 1, 5).data == nullptr);
  CHECK(packed.of(parameters.at(entry(parameters, "bias")), 5).data == nullptr);
  CHECK(packed.of(parameters.at(entry(parameters, "other task")), 4).data == nullptr);
  CHECK(packed.of(parameters.at(entry(parameters, "column")), 1).data == nullptr);
  const Real elsewhere[8] = {};
  CHECK(packed.of(elsewhere, 4).data == nullptr);
}

TEST_CASE("packed weights: panels are those of the last call") {
  Parameters parameters = numbered();
  PackedWeights packed;
  packed.pack(parameters, parameters.all(), 1);
  Real* own = parameters.at(entry(parameters, "own"));
  own[0] = -1;
  packed.pack(parameters, all_but_other(parameters), 1);
  CHECK(at(packed.of(own, 40), 0, 0) == -1);
  CHECK(packed.of(parameters.at(entry(parameters, "other task")), 4).data == nullptr);
}

}  // namespace
}  // namespace renar::packed_weights_test
