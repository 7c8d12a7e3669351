// sender_max: the maximum over the first node axis, missing edges, and ties.
#include "kernels/sender_max.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support_device.h"

namespace renar::sender_max_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;

enum class Edges { kAll, kSome };

test::Op form(const Tensor& adj) {
  return [adj](Tape& tape, const Inputs& in) { return sender_max(tape, in[0], adj); };
}

TEST_CASE("sender_max: by hand; three equal senders take a third each") {
  // x[i,m,c], i = 3 senders, m = 2 receivers, c = 1 channel
  Numbers x({1, 3, 2, 1}, {5, -1, 5, -2, 5, -1});
  FreshTape fresh;
  const Tensor y = sender_max(fresh.tape, x.tensor(), {});
  CHECK(y.shape == Shape{1, 2, 1});
  test::check_values(y, {5, -1}, 0);
  test::run_backward(fresh.tape, y, {3, 4});
  test::check_same("dx", x.grad(), {1, 2, 1, 0, 1, 2}, 1e-6);
}

TEST_CASE("sender_max: in a star the hub alone is heard") {
  constexpr std::int64_t kNodes = 4;
  std::vector<Real> ids;  // x[i,j] = 10 i + j
  for (Real i = 0; i < kNodes; ++i) {
    for (Real j = 0; j < kNodes; ++j) ids.push_back(10 * i + j);
  }
  Numbers x({1, kNodes, kNodes, 1}, ids);
  std::vector<Real> from_hub(16, 0), to_hub(16, 0);
  for (std::size_t j = 0; j < kNodes; ++j) from_hub[1 * kNodes + j] = to_hub[j * kNodes + 1] = 1;
  Numbers out({1, kNodes, kNodes}, from_hub), in({1, kNodes, kNodes}, to_hub);
  FreshTape fresh;
  // Node 1 sends to everyone: receiver j hears 10 + j.
  test::check_values(sender_max(fresh.tape, x.tensor(), out.data()), {10, 11, 12, 13}, 0);
  // Everyone sends to node 1, which hears 31, the greatest; nobody else hears anything.
  const Tensor y = sender_max(fresh.tape, x.tensor(), in.data());
  test::check_values(y, {kNoEdge, 31, kNoEdge, kNoEdge}, 0);
  test::run_backward(fresh.tape, y, {1, 2, 4, 8});
  std::vector<Real> dx(16, 0);
  dx[3 * kNodes + 1] = 2;
  CHECK(x.grad() == dx);
}

TEST_CASE("sender_max: a missing edge is never the argmax, however large its number") {
  Numbers x({1, 2, 1, 2}, {1e5, -3, 7, -4}), adj({1, 2, 1}, {0, 1});
  FreshTape fresh;
  const Tensor y = sender_max(fresh.tape, x.tensor(), adj.data());
  test::check_values(y, {7, -4}, 0);
  test::run_backward(fresh.tape, y, {1, 2});
  CHECK(x.grad() == std::vector<Real>{0, 0, 1, 2});
}

TEST_CASE("sender_max: numbers below the missing edge's win only where no edge is missing") {
  Numbers x({1, 2, 1, 1}, {-3e6, -2e6}), adj({1, 2, 1}, {0, 1});
  FreshTape fresh;
  test::check_values(sender_max(fresh.tape, x.tensor(), {}), {-2e6}, 0);
  test::check_values(sender_max(fresh.tape, x.tensor(), adj.data()), {kNoEdge}, 0);
}

// The formula: every entry of every sender compared, shares by counting.
struct Plain {
  std::vector<Real> y, dx;
};
Plain plain(const Tensor& x, const Tensor& adj, const std::vector<Real>& dy) {
  const std::int64_t batch = x.dim(0), n = x.dim(1), m = x.dim(2), h = x.dim(3);
  Plain result{{}, std::vector<Real>(static_cast<std::size_t>(x.size()), 0)};
  for (std::int64_t at = 0; at < batch * m * h; ++at) {
    const std::int64_t b = at / h / m;
    const auto place = [&](std::int64_t i) { return ((b * n + i) * m + at / h % m) * h + at % h; };
    const auto value = [&](std::int64_t i) {
      return !adj || adj.data[place(i) / h] > 0 ? x.data[place(i)] : kNoEdge;
    };
    Real best = value(0), count = 0;
    for (std::int64_t i = 1; i < n; ++i) best = std::max(best, value(i));
    for (std::int64_t i = 0; i < n; ++i) count += value(i) == best;
    for (std::int64_t i = 0; i < n; ++i) {
      if (value(i) == best && best != kNoEdge) {
        result.dx[static_cast<std::size_t>(place(i))] += dy[static_cast<std::size_t>(at)] / count;
      }
    }
    result.y.push_back(best);
  }
  return result;
}

TEST_CASE("sender_max: agrees with the formula, ties and missing edges included") {
  for (const test::Extents& e : test::kExtents) {
    for (const Edges edges : {Edges::kAll, Edges::kSome}) {
      Numbers x = test::coarse({e.batch, e.nodes, e.nodes, e.hidden}, 1);
      Numbers adj = test::random_adjacency(e.batch, e.nodes, 2);
      const Tensor present = edges == Edges::kSome ? adj.data() : Tensor{};
      FreshTape fresh;
      const Tensor y = sender_max(fresh.tape, x.tensor(), present);
      const std::vector<Real> dy = test::random_values(y.size(), 3);
      const Plain want = plain(x.data(), present, dy);
      test::check_values(y, want.y, 0);
      test::run_backward(fresh.tape, y, dy);
      test::check_same("dx", x.grad(), want.dx);
      x.check_guards();
    }
  }
}

TEST_CASE("sender_max: the kernels do as the definition") {
  const test::Op all = form({});
  const test::Op some = [](Tape& tape, const Inputs& in) { return sender_max(tape, in[0], in[1]); };
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.nodes, std::min<std::int64_t>(e.hidden, 33)};
    for (const auto& random : {Numbers::random, test::coarse}) {
      test::same_on_device(all, {.inputs = {random(shape, 1)}});
      test::same_on_device(some, {.inputs = {random(shape, 1)},
                                  .constants = {test::random_adjacency(e.batch, e.nodes, 2)}});
    }
  }
  // More senders than receivers, and more of either than a warp has lanes.
  test::same_on_device(all, {.inputs = {test::coarse({2, 7, 3, 5}, 3)}});
  test::same_on_device(all, {.inputs = {test::coarse({1, 64, 2, 24}, 4)}});
  test::same_on_device(some, {.inputs = {test::coarse({1, 33, 33, 3}, 5)},
                              .constants = {test::random_adjacency(1, 33, 6)}});
  test::same_on_device(some, {.inputs = {test::coarse({1, 5, 5, 128}, 5)},
                              .constants = {test::random_adjacency(1, 5, 6)}});
  // Numbers below a missing edge's, and one equal to it.
  const Numbers low({1, 2, 3, 1}, {-3e6, -2e6, -5e6, -2e6, kNoEdge, -4e6});
  test::same_on_device(all, {.inputs = {low}});
  test::same_on_device(some,
                       {.inputs = {low}, .constants = {Numbers({1, 2, 3}, {1, 0, 1, 0, 1, 1})}});
}

TEST_CASE("sender_max: gradients" * doctest::skip(test::kFloatBuild)) {
  Numbers adj = test::random_adjacency(2, 5, 1);
  test::check_gradient(form({}), {Numbers::random({2, 3, 5, 4}, 2)});
  test::check_gradient(form(adj.data()), {Numbers::random({2, 5, 5, 4}, 3)});
}

TEST_CASE("sender_max: shapes that do not fit are refused") {
  Numbers x = Numbers::random({2, 3, 3, 4}, 1), adj = Numbers::random({3, 3}, 2);
  FreshTape fresh;
  CHECK_THROWS_AS(sender_max(fresh.tape, adj.tensor(), {}), Error);
  CHECK_THROWS_AS(sender_max(fresh.tape, x.tensor(), adj.data()), Error);
}

}  // namespace
}  // namespace renar::sender_max_test
