// gemm on every instruction set of this CPU, and its kernels, against the definition: all stride
// forms, all tails.
#include "kernels/gemm.h"

#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "tests/support.h"
#include "tests/support_device.h"

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
  gemm(Device::kCpu, p.m, p.n, p.k, left(p, a.data()), right(p, b.data()), got.data() + kGuards,
       options);
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
        gemm(Device::kCpu, m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, c.data());
        gemm(Device::kCpu, 1, n, k, {row.data(), k, 1}, {b.data(), n, 1}, alone.data());
        for (std::int64_t i = 0; i < m; ++i) {
          const Real* at = c.data() + i * n;
          CHECK(std::memcmp(at, alone.data(), alone.size() * sizeof(Real)) == 0);
        }
      }
    }
  });
}

enum class Scratch { kNone, kGiven };

// Inputs: A, B, what C holds, the bias.
test::Op op_of(const Product& p, const GemmOptions& options, bool bias, Scratch scratch) {
  return [=](Tape& tape, const test::Inputs& in) {
    const Tensor c = tape.output({p.m, p.n}, {});
    GemmOptions all = options;
    if (bias) all.bias = in[3].data;
    if (options.accumulate) {
      copy_on_device(tape.device(), c.data, in[2].data,
                     static_cast<std::size_t>(p.m * p.n) * sizeof(Real));
    }
    if (scratch == Scratch::kGiven) all.scratch = tape.array<Real>(gemm_scratch(p.m, p.n, p.k));
    gemm(tape.device(), p.m, p.n, p.k, left(p, in[0].data), right(p, in[1].data), c.data, all);
    return c;
  };
}
test::DeviceCheck inputs_of(const Product& p) {
  using test::Numbers;
  return {.inputs = {},
          .constants = {Numbers::random({p.m * p.k}, 1), Numbers::random({p.k * p.n}, 2),
                        Numbers::random({p.m * p.n}, 3), Numbers::random({p.n}, 4)}};
}

void compare_on_device(const Product& p, const GemmOptions& options, bool bias = false,
                       Scratch scratch = Scratch::kNone) {
  CAPTURE(p.m);
  CAPTURE(p.n);
  CAPTURE(p.k);
  CAPTURE(p.form);
  test::same_on_device(op_of(p, options, bias, scratch), inputs_of(p));
}

TEST_CASE("gemm: the kernel does as the definition at every tail") {
  for (const Form form : kForms) {
    for (const std::int64_t m : {1, 3, 63, 64, 65, 130}) {
      for (const std::int64_t n : {1, 3, 8, 33, 64, 128}) {
        const std::int64_t k = 1 + (7 * m + 5 * n) % 36;
        compare_on_device({m, n, k, form},
                          {.accumulate = (m + n) % 2 == 0, .relu = m % 3 != 0 && n % 2 == 0},
                          m % 2 == 1);
      }
    }
  }
}

TEST_CASE("gemm: the kernel walks k in steps, and bias and relu come after the last") {
  for (const Form form : kForms) {
    for (const std::int64_t k : {0, 15, 16, 17, 32, 47, 128}) {
      compare_on_device({20, 24, k, form}, {.accumulate = true, .relu = true}, true);
      compare_on_device({20, 24, k, form}, {}, false, Scratch::kGiven);
    }
  }
}

TEST_CASE("gemm: the kernel adds the parts of a long sum") {
  CHECK(gemm_scratch(128, 128, 128) == 0);    // nothing to cut
  CHECK(gemm_scratch(8192, 128, 1024) == 0);  // C alone keeps the device busy
  CHECK(gemm_scratch(128, 128, 8192) == 32 * 128 * 128);
  CHECK(gemm_scratch(0, 128, 8192) == 0);
  for (const Form form : kForms) {
    for (const std::int64_t k : {129, 256, 300, 1000}) {
      REQUIRE(gemm_scratch(5, 66, k) > 0);
      compare_on_device({5, 66, k, form}, {.accumulate = true, .relu = true}, true,
                        Scratch::kGiven);
      compare_on_device({8, 3, k, form}, {}, false, Scratch::kGiven);
      compare_on_device({8, 3, k, form}, {.accumulate = true});
    }
  }
}

TEST_CASE("gemm: no barrier can be left out") {
  for (const Form form : kForms) {
    const Product p{20, 24, 300, form};  // many steps along k, and several in each part
    REQUIRE(gemm_scratch(p.m, p.n, p.k) > 0);
    for (const Scratch scratch : {Scratch::kNone, Scratch::kGiven}) {
      test::needs_every_barrier(op_of(p, {}, false, scratch), inputs_of(p));
    }
  }
}

TEST_CASE("gemm: equal rows of A give bit-equal rows of C on the device too") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  const std::int64_t m = 70, k = 300;
  for (const std::int64_t n : {1, 19, 128}) {
    const std::vector<Real> row = test::random_values(k, 1), b = test::random_values(k * n, 2);
    test::FreshTape fresh(Tape::Mode::kPredict, *device);
    Real* host = fresh.tape.host_array<Real>(m * k + k * n);
    for (std::int64_t i = 0; i < m; ++i) std::copy(row.begin(), row.end(), host + i * k);
    std::copy(b.begin(), b.end(), host + m * k);
    const Real* there = fresh.tape.send<Real>(host, m * k + k * n);
    for (const Scratch scratch : {Scratch::kNone, Scratch::kGiven}) {
      Real* c = fresh.tape.array<Real>(m * n);
      GemmOptions options;
      if (scratch == Scratch::kGiven) {
        options.scratch = fresh.tape.array<Real>(gemm_scratch(m, n, k));
      }
      gemm(*device, m, n, k, {there, k, 1}, {there + m * k, n, 1}, c, options);
      const Real* got = fresh.tape.fetch(c, m * n);
      for (std::int64_t i = 1; i < m; ++i) {
        CHECK(std::memcmp(got, got + i * n, static_cast<std::size_t>(n) * sizeof(Real)) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace renar
