// gemm on every instruction set of this CPU against the definition: all stride forms, all tails.
#include "kernels/gemm.h"

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/support.h"

namespace renar {
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

// Runs `body` once with each instruction set that was compiled in and that this CPU has.
template <class Body>
void on_each_target(const Body& body) {
  std::int64_t targets = hwy::SupportedTargets();
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

}  // namespace
}  // namespace renar
