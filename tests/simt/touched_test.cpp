// What collected kernels say they touch: on fibers a kernel that touches more is found.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "core/check.h"
#include "core/device_buffer.h"
#include "core/launch.h"
#include "core/simt_touched.h"

namespace renar::touched_test {
namespace {

#ifndef RENAR_CUDA

/// to[i] = from[i] + with[i], and says of it what it is told to.
struct Sum {
  Real *from, *with, *to;
  bool says_from, says_with, says_to;

  Touched touched(std::int64_t count) const {
    return Touched()
        .reads(says_from ? from : nullptr, count)
        .reads(says_with ? with : nullptr, count)
        .writes(says_to ? to : nullptr, count);
  }
  void operator()(std::int64_t i) const { to[i] = from[i] + with[i]; }
};

/// Runs it watched; what is left in `to`, or throws.
Real run_watched_sum(bool says_from, bool says_with, bool says_to) {
  constexpr std::int64_t kCount = 3;
  DeviceBuffer<Real> numbers(Device::kSimt);
  numbers.fit(3 * kCount);
  const std::vector<Real> sent{1, 2, 3, 10, 20, 30, 0, 0, 0};
  copy_to_device(Device::kSimt, numbers.data(), sent.data(), sent.size() * sizeof(Real));
  Real* at = numbers.data();
  struct Watch {
    Watch() { simt::watch_touched(true); }
    ~Watch() { simt::watch_touched(false); }
  } const watch;
  for_each(Device::kSimt, kCount,
           Sum{at, at + kCount, at + 2 * kCount, says_from, says_with, says_to});
  start_collected();
  std::vector<Real> got(sent.size());
  numbers.download(got.data(), static_cast<std::int64_t>(got.size()));
  CHECK(std::equal(sent.begin(), sent.begin() + 2 * kCount, got.begin()));
  return got.back();
}

TEST_CASE("touched: a kernel that says all of it does what it does unwatched") {
  CHECK(run_watched_sum(true, true, true) == 33);
}

TEST_CASE("touched: one that says too little is named") {
  CHECK_THROWS_WITH(run_watched_sum(false, true, true), "[simt] Sum reads more than it says");
  CHECK_THROWS_WITH(run_watched_sum(true, false, true), "[simt] Sum reads more than it says");
  CHECK_THROWS_WITH(run_watched_sum(true, true, false), "[simt] Sum writes more than it says");
}

/// Adds to x, and says of it only that it reads it, or nothing.
struct Add {
  Real* x;
  bool says_reads;

  Touched touched(std::int64_t count) const {
    return Touched().reads(says_reads ? x : nullptr, count);
  }
  void operator()(std::int64_t i) const { x[i] += 2; }
};

TEST_CASE("touched: so is one that adds to what it does not say it writes") {
  for (const bool says_reads : {false, true}) {
    DeviceBuffer<Real> x(Device::kSimt);
    x.fit(2);
    const Real ones[2] = {1, 1};
    copy_to_device(Device::kSimt, x.data(), ones, sizeof ones);
    simt::watch_touched(true);
    for_each(Device::kSimt, 2, Add{x.data(), says_reads});
    CHECK_THROWS_WITH(start_collected(), "[simt] Add writes more than it says");
    simt::watch_touched(false);
  }
}

/// Writes 0 and says nothing.
struct Clear {
  Real* x;

  Touched touched(std::int64_t) const { return {}; }
  void operator()(std::int64_t i) const { x[i] = 0; }
};

TEST_CASE("touched: and one that writes what is there already") {
  DeviceBuffer<Real> x(Device::kSimt);
  x.fit(2);
  fill_bytes(Device::kSimt, x.data(), 0, 2 * sizeof(Real));
  simt::watch_touched(true);
  for_each(Device::kSimt, 2, Clear{x.data()});
  CHECK_THROWS_WITH(start_collected(), "[simt] Clear writes more than it says");
  simt::watch_touched(false);
}

/// Writes x, and says that it writes as much as it is told to.
struct Fill {
  Real* x;
  std::int64_t says;

  Touched touched(std::int64_t) const { return Touched().writes(x, says); }
  void operator()(std::int64_t i) const { x[i] = 1; }
};

TEST_CASE("touched: and one that says more than there is") {
  DeviceBuffer<Real> x(Device::kSimt);
  x.fit(2);
  simt::watch_touched(true);
  for_each(Device::kSimt, 2, Fill{x.data(), std::int64_t{1} << 24});
  CHECK_THROWS_WITH(start_collected(),
                    "[simt] Fill says that it touches what is not the device's memory");
  simt::watch_touched(false);
}

#endif

}  // namespace
}  // namespace renar::touched_test
