// The fingerprint: the same bits on any number of threads and at every call.
#include "trainer/fingerprint.h"

#include <doctest/doctest.h>

namespace renar {
namespace {

TEST_CASE("fingerprint: depends on the steps and on nothing else") {
  const std::uint64_t pinned = fingerprint(4, 1);
  CHECK(fingerprint(4, 2) == pinned);
  CHECK(fingerprint(4, 3) == pinned);
  CHECK(fingerprint(4, 1) == pinned);
  CHECK(fingerprint(3, 1) != pinned);
}

}  // namespace
}  // namespace renar
