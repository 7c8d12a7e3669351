// How layers start: statistics, and numbers that depend on name and seed alone.
#include "nn/layers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace renar::layers_test {
namespace {

std::vector<Real> numbers(const Parameters& parameters, const Param& param) {
  return {parameters.at(param), parameters.at(param) + param.shape.size()};
}

std::vector<Real> weight(const std::string& name, std::uint64_t seed, bool neighbours = false) {
  Parameters parameters;
  const Builder builder{parameters, seed};
  if (neighbours) make_linear(builder, "before", 3, 4);
  const Linear layer = make_linear(builder, name, 6, 5);
  if (neighbours) make_linear(builder, "after", 3, 4);
  return numbers(parameters, layer.w);
}

TEST_CASE("layers: weights are truncated normal with 1/sqrt(in) or as asked, biases 0") {
  Parameters parameters;
  for (const double asked : {0.0, 0.3}) {
    const double stddev = asked > 0 ? asked : 0.1;  // 1/sqrt(100)
    const Linear layer =
        make_linear({parameters, 7}, "layer" + std::to_string(asked), 100, 200, {.stddev = asked});
    CHECK(layer.w.shape == Shape{100, 200});
    CHECK(layer.b.shape == Shape{200});
    double sum = 0, squares = 0, most = 0;
    for (const Real x : numbers(parameters, layer.w)) {
      sum += double{x};
      squares += double{x} * double{x};
      most = std::max(most, std::abs(double{x}));
    }
    CHECK(std::abs(sum / 20000) < 0.03 * stddev);
    // A normal cut at two sigma keeps 0.8796 of its standard deviation, as in the reference.
    CHECK(std::sqrt(squares / 20000) == doctest::Approx(0.8796 * stddev).epsilon(0.02));
    CHECK(most <= 2.0001 * stddev);
    CHECK(most > 1.95 * stddev);
    for (const Real b : numbers(parameters, layer.b)) CHECK(b == 0);
  }
}

TEST_CASE("layers: numbers depend on the name and the seed and not on neighbours") {
  CHECK(weight("a", 1) == weight("a", 1, true));
  CHECK(weight("a", 1) != weight("b", 1));
  CHECK(weight("a", 1) != weight("a", 2));
}

TEST_CASE("layers: a bias as asked, a layer norm of ones and zeros, names taken once") {
  Parameters parameters;
  const Builder builder{parameters, 1};
  CHECK(numbers(parameters, make_linear(builder, "gate", 2, 3, {.bias = -3}).b) ==
        std::vector<Real>{-3, -3, -3});
  const LayerNorm norm = make_layer_norm(builder, "norm", 2);
  CHECK(numbers(parameters, norm.scale) == std::vector<Real>{1, 1});
  CHECK(numbers(parameters, norm.offset) == std::vector<Real>{0, 0});
  CHECK_THROWS_AS(make_linear(builder, "gate", 2, 3), Error);
}

}  // namespace
}  // namespace renar::layers_test
