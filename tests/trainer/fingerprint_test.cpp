// The fingerprint: the same bits on any number of threads, at every call, and as they were.
#include "trainer/fingerprint.h"

#include <doctest/doctest.h>
#include <gnu/libc-version.h>

#include <cstdio>
#include <string>

#include "core/tensor.h"
#include "core/version.h"
#include "tests/support.h"

namespace renar::fingerprint_test {
namespace {

TEST_CASE("fingerprint: depends on the steps and on nothing else") {
  const std::uint64_t pinned = fingerprint(4, 1);
  CHECK(fingerprint(4, 2) == pinned);
  CHECK(fingerprint(4, 3) == pinned);
  CHECK(fingerprint(4, 1) == pinned);
  CHECK(fingerprint(3, 1) != pinned);
}

// A change of the arithmetic that is meant (another order of a sum) changes this number with it.
TEST_CASE("fingerprint: as pinned, in float on AVX2 and AVX-512 with Debian 12's libm" *
          doctest::skip(test::kSanitized)) {
  constexpr std::uint64_t kPinned = 0x2ee19bd5b1690e91;
  const bool fused = instruction_set() == "avx2" || instruction_set() == "avx512";
  if (sizeof(Real) != sizeof(float) || !fused || std::string(gnu_get_libc_version()) != "2.36") {
    std::printf("SKIPPED fingerprint: pinned for float, AVX2 or AVX-512, glibc 2.36 only\n");
    return;
  }
  CHECK(fingerprint(kFingerprintSteps, 2) == kPinned);
}

}  // namespace
}  // namespace renar::fingerprint_test
