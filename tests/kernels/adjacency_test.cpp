// The adjacency from pointers and masks, and the decoder's fill of non-edges.
#include "kernels/adjacency.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/check.h"
#include "tests/support_device.h"

namespace renar::adjacency_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

TEST_CASE("adjacency: starts as the identity of every sample") {
  FreshTape fresh;
  const Tensor adj = identity_adjacency(fresh.tape, 2, 3);
  CHECK(adj.shape == Shape{2, 3, 3});
  test::check_values(adj, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 0);
}

TEST_CASE("adjacency: an edge in either direction is an edge in both") {
  FreshTape fresh;
  Tensor adj = identity_adjacency(fresh.tape, 2, 3);
  // Sample 0: node 0 points to 2; (1,2) and (2,1) are 0.25 each, together not over one half.
  // Sample 1: nothing points.
  Numbers pointer({2, 3, 3}, {0, 0, 1, 0, 0, 0.25, 0, 0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  add_edges(Device::kCpu, adj, pointer.data(), kPointerEdge);
  test::check_values(adj, {1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 0);
  // As a mask (1,2) counts; what is there stays.
  add_edges(Device::kCpu, adj, pointer.data(), kMaskEdge);
  test::check_values(adj, {1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 0);
}

TEST_CASE("mask_non_edges: by hand; the fill is below everything and at most -1") {
  // Sample 0: the smallest is -3, so -4 fills. Sample 1: the smallest is 2, so -1 fills.
  Numbers x({2, 2, 2}, {5, -3, 1, 2, 2, 3, 4, 5}), adj({2, 2, 2}, {1, 0, 0, 1, 1, 1, 0, 1});
  FreshTape fresh;
  const Tensor y = mask_non_edges(fresh.tape, x.tensor(), adj.data());
  test::check_values(y, {5, -4, -4, 2, 2, 3, -1, 5}, 0);
  test::run_backward(fresh.tape, y, {1, 10, 100, 1000, 1, 10, 100, 1000});
  CHECK(x.grad() == std::vector<Real>{1, 110, 0, 1000, 1, 10, 0, 1000});
}

TEST_CASE("mask_non_edges: ties share the fill's gradient") {
  // Sample 0: two entries of -3. Sample 1: the smallest is 0, where min(-1, 0 - 1) ties: half
  // passes.
  Numbers x({2, 2, 2}, {5, -3, -3, 2, 0, 3, 4, 5}), adj({2, 2, 2}, {1, 1, 0, 0, 1, 1, 0, 1});
  FreshTape fresh;
  const Tensor y = mask_non_edges(fresh.tape, x.tensor(), adj.data());
  test::check_values(y, {5, -3, -4, -4, 0, 3, -1, 5}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 30, 40, 5, 6, 70, 8});
  CHECK(x.grad() == std::vector<Real>{1, 2 + 35, 35, 0, 5 + 35, 6, 0, 8});
}

TEST_CASE("mask_non_edges: agrees with the formula at every size") {
  for (const test::Extents& e : test::kExtents) {
    Numbers x = Numbers::random({e.batch, e.nodes, e.nodes}, 1);
    Numbers adj = test::random_adjacency(e.batch, e.nodes, 2);
    const std::vector<Real> values = x.values(), edges = adj.values();
    const std::int64_t sample = e.nodes * e.nodes;
    std::vector<Real> want;
    for (std::int64_t i = 0; i < e.batch * sample; ++i) {
      const auto from = values.begin() + i / sample * sample;
      const Real fill = std::min(Real{-1}, *std::min_element(from, from + sample) - 1);
      const auto at = static_cast<std::size_t>(i);
      want.push_back(edges[at] > 0 ? values[at] : fill);
    }
    FreshTape fresh;
    test::check_values(mask_non_edges(fresh.tape, x.tensor(), adj.data()), want, 0);
  }
}

TEST_CASE("adjacency: the kernels do as the definition") {
  for (const std::int64_t n : {1, 2, 3, 5, 20, 33, 64}) {
    const std::int64_t batch = n < 20 ? 3 : 1;
    for (const Real threshold : {kPointerEdge, kMaskEdge}) {
      const auto op = [&](Tape& tape, const Inputs& in) {
        Tensor adj = identity_adjacency(tape, batch, n);
        add_edges(tape.device(), adj, in[0], threshold);
        return adj;
      };
      test::same_on_device(op, {.inputs = {}, .constants = {test::coarse({batch, n, n}, 1)}});
    }
  }
}

TEST_CASE("mask_non_edges: the kernels do as the definition") {
  const auto op = [](Tape& tape, const Inputs& in) { return mask_non_edges(tape, in[0], in[1]); };
  for (const std::int64_t n : {1, 2, 3, 5, 20, 33, 64}) {
    const std::int64_t batch = n < 20 ? 9 : 1;
    for (const auto& random : {Numbers::random, test::coarse}) {
      test::same_on_device(op, {.inputs = {random({batch, n, n}, 1)},
                                .constants = {test::random_adjacency(batch, n, 2)}});
    }
  }
  // Sample 0: two smallest share. Sample 1: the smallest is 0. Sample 2: the smallest is above 0.
  test::same_on_device(op,
                       {.inputs = {Numbers({3, 2, 2}, {5, -3, -3, 2, 0, 3, 4, 0, 2, 3, 4, 5})},
                        .constants = {Numbers({3, 2, 2}, {1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1})}});
}

TEST_CASE("mask_non_edges: gradients" * doctest::skip(test::kFloatBuild)) {
  Numbers adj = test::random_adjacency(3, 4, 2);
  test::check_gradient(
      [&](Tape& tape, const Inputs& in) { return mask_non_edges(tape, in[0], adj.data()); },
      {Numbers::random({3, 4, 4}, 1)});
}

TEST_CASE("adjacency: shapes that do not fit are refused") {
  Numbers x = Numbers::random({1, 3, 3}, 1), adj = Numbers::random({2, 3, 3}, 2);
  FreshTape fresh;
  CHECK_THROWS_AS(add_edges(Device::kCpu, adj.data(), x.data(), kMaskEdge), Error);
  CHECK_THROWS_AS(mask_non_edges(fresh.tape, x.tensor(), adj.data()), Error);
}

}  // namespace
}  // namespace renar::adjacency_test
