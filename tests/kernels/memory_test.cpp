// The memory network's pieces by hand, against plain loops, and their gradients.
#include "kernels/memory.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/check.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::kernels_memory_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

Tensor read(Tape& tape, const Inputs& in) { return memory_read(tape, in[0], in[1], in[2], in[3]); }

TEST_CASE(
    "word_sum: by hand; cut towards zero, from the end where negative, the last word is nil") {
  // Four words, E = 2: position(c,0) = 1, position(c,1) = 1 + (c - 1) / 2 = 0.5, 1, 1.5, 2.
  Numbers table({3, 2}, {1, 10, 2, 20, 3, 30});
  Numbers x({2, 4}, {0.9, -0.9, 1, 2.9, -1.9, -2, -3.5, -4.9});  // words 0 0 1 2, nil 2 1 0
  FreshTape fresh;
  const Tensor y = word_sum(fresh.tape, x.tensor(), table.tensor());
  CHECK(y.shape == Shape{2, 2});
  test::check_values(y, {1 + 1 + 2 + 3, 5 + 10 + 30 + 60, 3 + 2 + 1, 30 + 30 + 20}, 0);
  test::run_backward(fresh.tape, y, {1, 10, 100, 1000});
  CHECK(table.grad() == Values{1 + 1 + 100, 5 + 10 + 2000, 1 + 100, 15 + 1500, 1 + 100, 20 + 1000});
  CHECK(x.grad() == Values(8, 0));
}

TEST_CASE("word_sum: what names no word names nil") {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
  Numbers table({3, 1}, {1, 2, 3});
  Numbers x({2, 4}, {3, 3.5, 4, -5, 1e30, -kInfinity, kInfinity, std::nan("")});
  FreshTape fresh;
  const Tensor y = word_sum(fresh.tape, x.data(), table.tensor());
  test::check_values(y, {0, 0}, 0);
  test::run_backward(fresh.tape, y, {1, 1});
  CHECK(table.grad() == Values(3, 0));
}

TEST_CASE("word_sum: one number names nil or nothing") {
  Numbers table({0, 2}, {}), x({3, 1}, {0, -1, 7});
  FreshTape fresh;
  test::check_values(word_sum(fresh.tape, x.data(), table.tensor()), Values(6, 0), 0);
}

TEST_CASE("memory_read: by hand; an empty memory takes its share and tells nothing") {
  // logits ln 3 (of the story) and 0 (empty): p = 3/4, 1/4
  const Real ln3 = std::log(Real{3});
  Numbers query({1, 1, 1}, {1}), heard({1, 1, 1, 1}, {ln3 - 5}), told({1, 1, 1, 1}, {8});
  Numbers contents({2, 1}, {5, 0});
  FreshTape fresh;
  const Tensor y =
      read(fresh.tape, {query.tensor(), heard.tensor(), told.tensor(), contents.tensor()});
  test::check_values(y, {6}, 1e-6);
  test::run_backward(fresh.tape, y, {1});  // dlogit = 3/4 (8 - 6), 1/4 (0 - 6)
  test::check_same("dquery", query.grad(), {Real(1.5) * ln3}, 1e-6);
  test::check_same("dheard", heard.grad(), {1.5}, 1e-6);
  test::check_same("dtold", told.grad(), {0.75}, 1e-6);
  test::check_same("dcontents", contents.grad(), {1.5, -1.5}, 1e-6);
}

TEST_CASE("memory_read: agrees with the formula") {
  constexpr std::int64_t kMemories = 21;
  for (const test::Extents& e : test::kExtents) {
    const std::int64_t n = e.nodes, width = e.hidden, queries = e.batch * n;
    Numbers query = Numbers::random({e.batch, n, width}, 1);
    Numbers heard = Numbers::random({e.batch, n, n, width}, 2);
    Numbers told = Numbers::random({e.batch, n, n, width}, 3);
    Numbers contents = Numbers::random({kMemories, width}, 4);
    Values want;
    for (std::int64_t at = 0; at < queries * width; ++at) {
      double sum = 0, total = 0;
      for (std::int64_t m = 0; m < kMemories; ++m) {
        const std::int64_t story = (at / width * n + m) * width;
        double logit = 0;
        for (std::int64_t c = 0; c < width; ++c) {
          const double said = m < n ? double{heard.data().data[story + c]} : 0;
          logit += (said + double{contents.data().data[m * width + c]}) *
                   double{query.data().data[at / width * width + c]};
        }
        sum += std::exp(logit);
        if (m < n) total += std::exp(logit) * double{told.data().data[story + at % width]};
      }
      want.push_back(static_cast<Real>(total / sum));
    }
    FreshTape fresh;
    const Tensor y =
        read(fresh.tape, {query.tensor(), heard.tensor(), told.tensor(), contents.tensor()});
    test::check_values(y, want, 10 * test::kRounding);
  }
}

/// Numbers of which most name a word of `words`, some the same.
Numbers naming(Shape shape, std::int64_t words, std::uint64_t seed) {
  Numbers x = Numbers::random(shape, seed);
  const Real spread = static_cast<Real>(words) / 2;
  for (std::int64_t i = 0; i < shape.size(); ++i) x.data().data[i] *= i % 3 == 0 ? 1 : spread;
  return x;
}

TEST_CASE("word_sum: the kernels do as the definition") {
  struct Case {
    Shape shape;
    std::int64_t width;
  };
  const Case cases[] = {{{1, 1, 2}, 1},    {{3, 2, 3}, 3},   {{2, 5, 5, 8}, 16},
                        {{1, 20, 24}, 33}, {{3, 3, 33}, 16}, {{1, 3, 3, 128}, 16},
                        {{1, 64, 8}, 65}};
  for (const Case& each : cases) {
    const std::int64_t words = each.shape[each.shape.rank - 1];
    test::same_on_device([](Tape& tape, const Inputs& in) { return word_sum(tape, in[1], in[0]); },
                         {.inputs = {Numbers::random({words - 1, each.width}, 2)},
                          .constants = {naming(each.shape, words, 1)}});
  }
  test::same_on_device(
      [](Tape& tape, const Inputs& in) { return word_sum(tape, in[1], in[0]); },
      {.inputs = {Numbers({0, 2}, {})}, .constants = {Numbers({3, 1}, {0, -1, 7})}});
}

TEST_CASE("memory_read: the kernels do as the definition") {
  struct Case {
    std::int64_t batch, queries, stories, width, memories;
  };
  const Case cases[] = {{1, 1, 1, 1, 1},    {1, 2, 2, 3, 5},     {3, 3, 3, 8, 33},
                        {2, 6, 6, 16, 16},  {1, 21, 21, 16, 40}, {1, 4, 4, 33, 128},
                        {1, 5, 65, 16, 128}};
  for (const Case& e : cases) {
    const Shape stories = {e.batch, e.queries, e.stories, e.width};
    test::same_on_device(read, {.inputs = {Numbers::random({e.batch, e.queries, e.width}, 1),
                                           Numbers::random(stories, 2), Numbers::random(stories, 3),
                                           Numbers::random({e.memories, e.width}, 4)},
                                .tolerance = 10 * test::kRounding});
  }
}

TEST_CASE("memory_read: the kernels leave inputs without gradient alone") {
  const std::vector<Numbers> all = {Numbers::random({1, 2, 3}, 1), Numbers::random({1, 2, 2, 3}, 2),
                                    Numbers::random({1, 2, 2, 3}, 3), Numbers::random({4, 3}, 4)};
  for (std::size_t learnt = 0; learnt < 4; ++learnt) {
    std::vector<Numbers> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(learnt));
    test::same_on_device(
        [=](Tape& tape, const Inputs& in) {
          Inputs placed(in.begin() + 1, in.end());
          placed.insert(placed.begin() + static_cast<std::ptrdiff_t>(learnt), in[0]);
          return read(tape, placed);
        },
        {.inputs = {all[learnt]}, .constants = others});
  }
}

TEST_CASE("memory: no barrier can be left out") {
  test::needs_every_barrier(
      [](Tape& tape, const Inputs& in) { return word_sum(tape, in[1], in[0]); },
      {.inputs = {Numbers::random({7, 33}, 2)}, .constants = {naming({50, 8}, 8, 1)}});
  test::needs_every_barrier(
      read, {.inputs = {Numbers::random({1, 20, 16}, 1), Numbers::random({1, 20, 6, 16}, 2),
                        Numbers::random({1, 20, 6, 16}, 3), Numbers::random({40, 16}, 4)}});
}

TEST_CASE("memory: gradients" * doctest::skip(test::kFloatBuild)) {
  Numbers x = Numbers::random({2, 3, 5}, 1);
  for (std::int64_t i = 0; i < 30; ++i) x.data().data[i] *= 3;
  test::check_gradient(
      [&](Tape& tape, const Inputs& in) { return word_sum(tape, x.data(), in[0]); },
      {Numbers::random({4, 6}, 2)});
  test::check_gradient(read, {Numbers::random({2, 3, 4}, 1), Numbers::random({2, 3, 2, 4}, 2),
                              Numbers::random({2, 3, 2, 4}, 3), Numbers::random({5, 4}, 4)});
}

TEST_CASE("memory: inputs without gradient are left alone") {
  for (std::size_t learnt = 0; learnt < 4; ++learnt) {
    std::vector<Numbers> all = {Numbers::random({1, 2, 3}, 1), Numbers::random({1, 2, 2, 3}, 2),
                                Numbers::random({1, 2, 2, 3}, 3), Numbers::random({4, 3}, 4)};
    Inputs in;
    for (std::size_t k = 0; k < 4; ++k) in.push_back(k == learnt ? all[k].tensor() : all[k].data());
    FreshTape fresh;
    test::run_backward(fresh.tape, read(fresh.tape, in), Values(6, 1));
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK((all[k].grad() != Values(all[k].grad().size(), 0)) == (k == learnt));
    }
  }
}

TEST_CASE("memory: shapes that do not fit are refused") {
  Numbers x = Numbers::random({2, 3, 4}, 1), table = Numbers::random({4, 2}, 2);
  Numbers stories = Numbers::random({2, 3, 3, 4}, 3), others = Numbers::random({2, 3, 2, 4}, 4);
  Numbers two = Numbers::random({2, 4}, 5), five = Numbers::random({5, 4}, 6);
  FreshTape fresh;
  CHECK_THROWS_AS(word_sum(fresh.tape, x.tensor(), table.tensor()), Error);
  const auto refused = [&](Numbers& query, Numbers& heard, Numbers& told, Numbers& contents) {
    const Inputs in = {query.tensor(), heard.tensor(), told.tensor(), contents.tensor()};
    CHECK_THROWS_AS(read(fresh.tape, in), Error);
  };
  refused(x, stories, others, five);
  refused(two, stories, stories, five);
  refused(x, stories, stories, table);
  refused(x, stories, stories, two);  // three stories, two memories
  refused(x, x, x, five);
}

}  // namespace
}  // namespace renar::kernels_memory_test
