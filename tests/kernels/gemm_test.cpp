// gemm on every instruction set of this CPU against the definition: all stride forms, all tails.
#include "kernels/gemm.h"

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/check.h"
#include "core/parameters.h"
#include "tests/support.h"

namespace renar::gemm_test {
namespace {

constexpr std::int64_t kGuards = 40;
constexpr Real kGuard = 777;

enum class Form { kNN, kNT, kTN };  // which factor is stored transposed
constexpr Form kForms[] = {Form::kNN, Form::kNT, Form::kTN};

struct Product {
  std::int64_t m, n, k;
  Form form;
};

Factor left(const Product& p, const Real* a) {
  return p.form == Form::kTN ? Factor{a, 1, p.m} : Factor{a, p.k, 1};
}
Factor right(const Product& p, const Real* b) {
  return p.form == Form::kNT ? Factor{b, 1, p.k} : Factor{b, p.n, 1};
}

// Runs `body` once with each instruction set of `which` that was compiled in and that this CPU has.
template <class Body>
void on_each_target(const Body& body, std::int64_t which = ~std::int64_t{0}) {
  std::int64_t targets = hwy::SupportedTargets() & which;
  for (; targets != 0; targets &= targets - 1) {
    hwy::SetSupportedTargetsForTest(targets & -targets);
    hwy::GetChosenTarget().Update(targets & -targets);
    CAPTURE(hwy::TargetName(targets & -targets));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

// The factors end where their memory ends, so that a sanitizer sees a read past them.
void compare(const Product& p, bool accumulate, bool bias, bool relu) {
  const std::vector<Real> a = test::random_values(p.m * p.k, 1),
                          b = test::random_values(p.k * p.n, 2);
  const std::vector<Real> offsets = test::random_values(p.n, 3);
  const GemmOptions options{
      .accumulate = accumulate, .bias = bias ? offsets.data() : nullptr, .relu = relu};
  const std::size_t size = static_cast<std::size_t>(p.m * p.n);
  // Without accumulate C starts as NaN: it must not be read.
  std::vector<Real> want(size, std::numeric_limits<Real>::quiet_NaN());
  if (accumulate) want = test::random_values(p.m * p.n, 4);
  std::vector<Real> got(size + 2 * kGuards, kGuard);
  std::copy(want.begin(), want.end(), got.begin() + kGuards);
  gemm_definition(p.m, p.n, p.k, left(p, a.data()), right(p, b.data()), want.data(), options);
  gemm(p.m, p.n, p.k, left(p, a.data()), right(p, b.data()), got.data() + kGuards, options);
  CAPTURE(p.m);
  CAPTURE(p.n);
  CAPTURE(p.k);
  CAPTURE(p.form);
  test::check_same("C", {got.begin() + kGuards, got.end() - kGuards}, want,
                   test::kFloatBuild ? 2e-6 : 1e-14);
  const auto is_guard = [](Real value) { return value == kGuard; };
  CHECK(std::all_of(got.begin(), got.begin() + kGuards, is_guard));
  CHECK(std::all_of(got.end() - kGuards, got.end(), is_guard));
}

TEST_CASE("gemm: a product by hand") {
  // [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50]; C holds 1 everywhere, bias (-30, 1), then relu.
  const Real a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, bias[] = {-30, 1};
  using Gemm =
      void (*)(std::int64_t, std::int64_t, std::int64_t, Factor, Factor, Real*, const GemmOptions&);
  for (const Gemm product : {Gemm{gemm}, Gemm{gemm_definition}}) {
    std::vector<Real> c(4, 1);
    product(2, 2, 2, {a, 2, 1}, {b, 2, 1}, c.data(), {});
    CHECK(c == std::vector<Real>{19, 22, 43, 50});
    product(2, 2, 2, {a, 1, 2}, {b, 2, 1}, c.data(), {});  // A^T
    CHECK(c == std::vector<Real>{26, 30, 38, 44});
    product(2, 2, 2, {a, 2, 1}, {b, 1, 2}, c.data(), {});  // B^T
    CHECK(c == std::vector<Real>{17, 23, 39, 53});
    c.assign(4, 1);
    product(2, 2, 2, {a, 2, 1}, {b, 2, 1}, c.data(),
            {.accumulate = true, .bias = bias, .relu = true});
    CHECK(c == std::vector<Real>{0, 24, 14, 52});
  }
}

TEST_CASE("gemm: every instruction set agrees with the definition at every tail") {
  on_each_target([] {
    for (const Form form : kForms) {
      for (const std::int64_t m : {1, 2, 3, 5, 6, 7, 11, 12, 13, 25, 40}) {
        for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 9, 15, 17, 31, 32, 33, 40}) {
          const std::int64_t k = 1 + (7 * m + 5 * n) % 40;
          compare({m, n, k, form}, (m + n) % 2 == 0, m % 2 == 0, m % 3 == 0);
          compare({m, n, k, form}, (m + n) % 2 != 0, m % 2 != 0, m % 3 != 0);
        }
      }
    }
  });
}

TEST_CASE("gemm: the widest tiles, whose rows are shared out evenly, agree with the definition") {
  on_each_target([] {
    for (const Form form : kForms) {
      for (const std::int64_t m : {23, 24, 25, 26, 29, 30, 31, 37}) {
        for (const std::int64_t n : {63, 64, 65, 96, 97, 128, 193}) {
          for (const std::int64_t k : {1, 5, 24, 47, 130}) {
            compare({m, n, k, form}, (m + n) % 2 == 0, m % 2 == 0, m % 3 == 0);
          }
        }
      }
    }
  });
}

TEST_CASE("gemm: long sums are cut into blocks, and bias and relu come after the last") {
  on_each_target([] {
    for (const Form form : kForms) {
      for (const std::int64_t k : {0, 255, 256, 257, 300, 512, 700}) {
        for (const bool accumulate : {false, true}) {
          compare({13, 37, k, form}, accumulate, true, true);
          compare({6, 8, k, form}, accumulate, false, false);
        }
      }
      compare({256, 128, 128, form}, true, true, true);
      compare({600, 40, 20, form}, true, true, true);  // several blocks of rows
      compare({256, 128, 256, form}, false, false, false);
    }
  });
}

TEST_CASE("gemm: no rows or no columns write nothing") {
  on_each_target([] {
    compare({0, 5, 3, Form::kNN}, false, true, false);
    compare({5, 0, 3, Form::kNN}, false, true, false);
  });
}

TEST_CASE("gemm: equal rows of A give bit-equal rows of C wherever they stand") {
  on_each_target([] {
    for (const std::int64_t m : {2, 5, 12, 13, 29}) {
      for (const std::int64_t n : {1, 19, 128}) {
        const std::int64_t k = 300;
        const std::vector<Real> row = test::random_values(k, 1), b = test::random_values(k * n, 2);
        std::vector<Real> a, c(static_cast<std::size_t>(m * n)), alone(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < m; ++i) a.insert(a.end(), row.begin(), row.end());
        gemm(m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, c.data());
        gemm(1, n, k, {row.data(), k, 1}, {b.data(), n, 1}, alone.data());
        for (std::int64_t i = 0; i < m; ++i) {
          const Real* at = c.data() + i * n;
          CHECK(std::memcmp(at, alone.data(), alone.size() * sizeof(Real)) == 0);
        }
      }
    }
  });
}

// C = ends + A_0 B_0 + A_1 B_1 + .., with panels of every other factor.
void compare_sum(std::int64_t batch, std::int64_t nodes, std::int64_t n,
                 const std::vector<std::int64_t>& depths, bool send, bool recv) {
  const std::int64_t m = batch * nodes * nodes;
  std::vector<std::vector<Real>> numbers;
  std::vector<GemmTerm> terms;
  Parameters parameters;
  for (const std::int64_t k : depths) parameters.add(std::to_string(terms.size() + k), {k, n});
  for (std::int64_t i = 0; i < parameters.size(); ++i) {
    parameters.values()[i] = static_cast<Real>(i % 37 - 18) / 16;
  }
  PackedWeights packed;
  packed.pack(parameters, parameters.all(), 2);
  for (const auto& [name, param] : parameters.entries()) {
    const std::int64_t k = param.shape[0];
    numbers.push_back(test::random_values(m * k, static_cast<std::uint64_t>(k) + 5));
    const Real* b = parameters.at(param);
    terms.push_back({k, {numbers.back().data(), k, 1}, {b, n, 1}});
    if (terms.size() % 2 == 1) terms.back().panels = packed.of(b, n);
  }
  const std::vector<Real> from = test::random_values(batch * nodes * n, 3),
                          to = test::random_values(batch * nodes * n, 4);
  const GemmOptions options{.relu = n % 2 == 0,
                            .send = send ? from.data() : nullptr,
                            .recv = recv ? to.data() : nullptr,
                            .nodes = nodes};
  std::vector<Real> want(static_cast<std::size_t>(m * n)), got(want.size(), NAN);
  const int count = static_cast<int>(terms.size());
  gemm_definition(m, n, terms.data(), count, want.data(), options);
  gemm(m, n, terms.data(), count, got.data(), options);
  CAPTURE(n);
  CAPTURE(nodes);
  test::check_same("C", got, want, test::kFloatBuild ? 4e-6 : 1e-14);
}

TEST_CASE("gemm: a layer on edges is one sum of its ends and of several products") {
  on_each_target([] {
    for (const std::int64_t nodes : {1, 2, 3, 5}) {  // 50 rows at most: the widest tiles as well
      for (const std::int64_t n : {1, 5, 8, 31, 32, 33, 70, 128, 200}) {
        compare_sum(2, nodes, n, {7}, true, true);
        compare_sum(2, nodes, n, {3, 40, 11}, true, false);
        compare_sum(1, nodes, n, {40, 300, 2, 260}, false, true);  // more than a pass packs
        compare_sum(1, nodes, n, {5, 6, 7, 8, 9, 10}, false, false);
      }
    }
  });
}

TEST_CASE("gemm: AVX2 and AVX-512 give the same bits") {
  for (const std::int64_t n : {1, 8, 33}) {
    for (const std::int64_t k : {5, 31, 300}) {
      const std::int64_t m = 13;
      const std::vector<Real> a = test::random_values(m * k, 1), b = test::random_values(k * n, 2);
      std::vector<std::vector<Real>> results;
      on_each_target(
          [&] {
            std::vector<Real> c(static_cast<std::size_t>(m * n));
            gemm(m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, c.data(), {.relu = true});
            results.push_back(c);
          },
          HWY_AVX2 | HWY_AVX3);
      for (const std::vector<Real>& result : results) CHECK(result == results.front());
    }
  }
}

TEST_CASE("gemm: too many terms are refused") {
  const GemmTerm terms[kMaxFactors + 1] = {};
  CHECK_THROWS_AS(gemm(1, 1, terms, kMaxFactors + 1, nullptr, {}), Error);
}

TEST_CASE("gemm: panels change no bit, those of a transposed weight and of some of its rows too") {
  on_each_target([] {
    for (const std::int64_t cols : {2, 8, 31, 32, 33, 128}) {
      for (const std::int64_t m : {1, 16, 100}) {
        const std::int64_t rows = 96;
        Parameters parameters;
        const Param param = parameters.add("w", {rows, cols});
        const std::vector<Real> values = test::random_values(rows * cols, 1);
        std::copy(values.begin(), values.end(), parameters.values());
        PackedWeights packed;
        packed.pack(parameters, parameters.all(), 1);
        const Real* w = parameters.at(param);
        const auto same = [&](std::int64_t n, std::int64_t k, Factor b, Panels panels) {
          REQUIRE(panels.data != nullptr);
          const std::vector<Real> a = test::random_values(m * k, 2);
          std::vector<Real> with(static_cast<std::size_t>(m * n)), without(with.size());
          const GemmTerm term{k, {a.data(), k, 1}, b, panels};
          gemm(m, n, &term, 1, with.data(), {});
          gemm(m, n, k, {a.data(), k, 1}, b, without.data());
          CHECK(std::memcmp(with.data(), without.data(), with.size() * sizeof(Real)) == 0);
        };
        for (const std::int64_t first : {0, 32, 64}) {
          const Real* from = w + first * cols;
          same(cols, 32, {from, cols, 1}, packed.of(from, cols));
          same(32, cols, {from, 1, cols}, packed.of_transposed(from, cols));
        }
      }
    }
  });
}

}  // namespace
}  // namespace renar::gemm_test
