// launch_graphs: work that comes again gives what it gave the first time, whether it runs or is
// played.
#include "core/launch_graphs.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "core/device_buffer.h"
#include "core/launch.h"
#include "kernels/accumulate.h"
#include "tests/support_device.h"

namespace renar::launch_graphs_test {
namespace {

constexpr std::int64_t kCount = 300;

/// Sends numbers and adds them to a sum, twice over.
struct Adding {
  explicit Adding(Device on) : device(on), sent(on), sum(on) {
    host = static_cast<Real*>(host_allocate(device, kCount * sizeof(Real)));
    sent.fit(kCount);
    sum.zeros(kCount);
  }
  ~Adding() { host_release(device, host); }

  void operator()(Real number) {
    ++runs;
    std::fill_n(host, kCount, number);
    send_to_device(device, sent.data(), host, kCount * sizeof(Real));
    accumulate(device, kCount, sent.data(), sum.data());
    accumulate(device, kCount, sent.data(), sum.data());
  }
  Real last_sum() const {
    std::vector<Real> got(kCount);
    sum.download(got.data(), kCount);
    return got.back();
  }

  Device device;
  DeviceBuffer<Real> sent, sum;
  Real* host = nullptr;
  int runs = 0;
};

TEST_CASE("launch graphs: work on a device is played with the numbers of its own time") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  LaunchGraphs graphs(*device);
  Adding adding(*device);
  Real want = 0;
  for (int i = 1; i <= 6; ++i) {
    const auto number = static_cast<Real>(i);
    graphs.run({7, 8}, [&] { adding(number); });
    want += 2 * number;
    CHECK(adding.last_sum() == want);  // waits, so that `host` may be written again
  }
  CHECK(adding.runs == 6);  // the host's part ran every time
  CHECK(graphs.played() == 5);
}

TEST_CASE("launch graphs: fibers find that work is not what was recorded under its key") {
  if (built_with_cuda()) return;
  const Device device = Device::kSimt;
  DeviceBuffer<Real> sum(device), from(device);
  sum.zeros(kCount);
  from.zeros(kCount);
  using Work = std::function<void()>;
  const Work recorded = [&] { accumulate(device, kCount, from.data(), sum.data(), 2); };
  const Work others[] = {
      [&] { accumulate(device, kCount, from.data(), sum.data(), 3); },      // a number by value
      [&] { accumulate(device, kCount, from.data() + 1, sum.data(), 2); },  // an address
      [&] { accumulate(device, kCount - 1, from.data(), sum.data(), 2); },  // an extent
      [&] { fill_bytes(device, sum.data(), 0, kCount); },                   // of another kind
      [&] { recorded(), recorded(); },
      [] {}};
  for (const Work& other : others) {
    LaunchGraphs graphs(device);
    for (int i = 0; i < 3; ++i) graphs.run({1}, recorded);
    CHECK_THROWS_AS(graphs.run({1}, other), Error);
    CHECK_NOTHROW(graphs.run({1}, recorded));
    CHECK(graphs.played() == 3);
  }
  LaunchGraphs graphs(device);
  std::vector<Real> here(kCount);
  for (int key = 0; key < 2; ++key) {  // neither can a recording do what must not wait
    const Work refused[] = {[&] { sum.download(here.data(), kCount); },
                            [&] { DeviceBuffer<Real>(device).fit(1); }};
    const LaunchGraphs::Key of = {static_cast<std::uint64_t>(key)};
    graphs.run(of, refused[key]);
    CHECK_THROWS_AS(graphs.run(of, refused[key]), Error);
  }
  sum.download(here.data(), kCount);
}

TEST_CASE("launch graphs: what was not used for the longest time is forgotten") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  constexpr std::size_t kWork = 3;  // a copy and two launches
  Adding adding(*device);
  const auto played = [&](LaunchGraphs& graphs, std::uint64_t key) {
    const std::int64_t before = graphs.played();
    graphs.run({key}, [&] { adding(1); });
    adding.last_sum();  // waits
    return graphs.played() > before;
  };
  // Room for two graphs: the third takes the place of 1, which must be recorded again. That it is,
  // at once, says that its key was kept.
  LaunchGraphs two(*device, {.launches = 2 * kWork + 1});
  for (const std::uint64_t key : {1, 2, 3}) CHECK(!played(two, key));
  for (const std::uint64_t key : {1, 2, 2, 3, 1, 3, 2}) CHECK(played(two, key));
  CHECK(two.size() == 2 * kWork);
  // Room for two keys.
  LaunchGraphs keys(*device, {.keys = 2});
  for (const std::uint64_t key : {1, 2, 3, 1}) CHECK(!played(keys, key));
  for (const std::uint64_t key : {3, 1}) CHECK(played(keys, key));
  CHECK(!played(keys, 2));
  CHECK(!played(keys, 3));
  CHECK(keys.size() == 0);
  // A graph for which there is no room is played all the same, while it is the newest.
  LaunchGraphs none(*device, {.launches = 1});
  CHECK(!played(none, 1));
  CHECK(played(none, 1));
  CHECK(none.size() == kWork);
}

TEST_CASE("launch graphs: on a device other keys are other work") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  LaunchGraphs graphs(*device, {.launches = 90});
  Adding one(*device), other(*device);
  Real want_one = 0, want_other = 0;
  for (std::uint64_t i = 0; i < 120; ++i) {
    const auto number = static_cast<Real>(i % 5);
    graphs.run({0, 1}, [&] { one(number); });
    graphs.run({i % 40}, [&] { other(number + 1); });
    want_one += 2 * number;
    want_other += 2 * (number + 1);
    CHECK(one.last_sum() == want_one);
    CHECK(other.last_sum() == want_other);
  }
}

TEST_CASE("launch graphs: on a device an error in the work leaves the next one whole") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  LaunchGraphs graphs(*device);
  Adding adding(*device);
  const auto fail = [&] {
    CHECK_THROWS_AS(graphs.run({1},
                               [&] {
                                 adding(1);
                                 throw std::runtime_error("in the middle");
                               }),
                    std::runtime_error);
  };
  fail(), fail();  // as launches, twice: a key whose work failed is not known
  Real sum = adding.last_sum();
  const auto succeed = [&](std::int64_t played) {
    graphs.run({1}, [&] { adding(3); });
    sum += 6;
    CHECK(adding.last_sum() == sum);
    CHECK(graphs.played() == played);
  };
  succeed(0);
  fail(), fail();  // in recordings, of which nothing runs later
  CHECK(adding.last_sum() == sum);
  succeed(1);
  succeed(2);
}

TEST_CASE("launch graphs: on the CPU the work runs") {
  LaunchGraphs graphs(Device::kCpu);
  int runs = 0;
  for (int i = 0; i < 3; ++i) graphs.run({1}, [&] { ++runs; });
  CHECK(runs == 3);
}

}  // namespace
}  // namespace renar::launch_graphs_test
