// Where kernels stand below the roofline: marks made by hand, and a kernel that is left out.
#include "core/roofline.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/launch.h"

namespace renar::roofline_test {
namespace {

using enum ProfilePhase;
using Kind = ProfileMark::Kind;

const Card kCard{"a card", 1e12, 1e9};  // a MFLOP takes a microsecond, a KB too

/// Two launches of "products", one bound by operations and one by bytes; one of "softmax".
std::vector<ProfileTrack> tracks_of(bool queues) {
  ProfileTrack track{"main", 0, queues, {}};
  KernelWork work;
  double at = 100;
  const auto mark = [&](Kind kind, const char* op, const KernelWork& more, double us) {
    work += more;
    at += us / 1e6;
    track.marks.push_back({kind, kForward, nullptr, op, at, at, work});
  };
  mark(Kind::kEnter, nullptr, {}, 0);
  mark(Kind::kOp, "renar::products", {1, 1000, 8'000'000}, 10);
  mark(Kind::kOp, "renar::products", {1, 2000, 1'000'000}, 10);
  mark(Kind::kOp, "relu", {0, 0, 0}, 50);  // an op that started nothing
  mark(Kind::kOp, "softmax", {1, 4000, 0}, 40);
  mark(Kind::kLeave, nullptr, {}, 5);
  return {track};
}

TEST_CASE("roofline: the least time of launches is the sum of each one's larger time") {
  const std::vector<KernelPlace> places = kernel_places(tracks_of(false), kCard);
  REQUIRE(places.size() == 2);
  CHECK(places[0].kernel == "products");
  CHECK(places[0].work.launches == 2);
  CHECK(places[0].work.bytes == 3000);
  CHECK(places[0].work.flops == 9'000'000);
  CHECK(places[0].least == doctest::Approx(10e-6));  // 8 for its operations, 2 for its bytes
  CHECK(places[1].kernel == "softmax");
  CHECK(places[1].least == doctest::Approx(4e-6));
}

TEST_CASE("roofline: on a GPU what took the longest comes first, beside the least") {
  const std::vector<KernelPlace> places = kernel_places(tracks_of(true), kCard);
  REQUIRE(places.size() == 2);
  CHECK(places[0].kernel == "softmax");
  CHECK(places[0].measured == doctest::Approx(40e-6));
  CHECK(places[1].measured == doctest::Approx(20e-6));
  const std::string text = roofline_text(places, kCard, 2, true);
  CHECK(text.find("softmax                          forward        0.5") != text.npos);
  CHECK(text.find("    40.00     0.020    10%") != text.npos);  // us each, ms an update, least
  CHECK(text.find("least: at 1.0 TFLOP/s and 0.00 TB/s, as a card has") != text.npos);
  CHECK(roofline_text(places, kCard, 2, false).find('%') == std::string::npos);
  CHECK(roofline_text({}, kCard, 1, false).find("all kernels") == std::string::npos);
}

#ifndef RENAR_CUDA
struct AddOne {
  Real* x;
  Touched touched(std::int64_t count) const { return Touched().writes(x, count); }
  RENAR_HOST_DEVICE void operator()(std::int64_t i) const { x[i] += 1; }
};

TEST_CASE("roofline: kernels that are left out are counted and do nothing") {
  Real* x = static_cast<Real*>(device_allocate(Device::kSimt, sizeof(Real)));
  Real value = 3;
  copy_to_device(Device::kSimt, x, &value, sizeof value);
  const auto add_one = [&](bool leave_out) {
    simt::leave_out_kernels(leave_out);
    Profiler profiler(Device::kSimt);
    {
      const ProfileRange range("range");
      for_each(Device::kSimt, 1, AddOne{x});
      start_collected();
    }
    simt::leave_out_kernels(false);
    copy_to_host(Device::kSimt, &value, x, sizeof value);
    const std::vector<KernelPlace> places = kernel_places(profiler.tracks(), kCard);
    REQUIRE(places.size() == 1);
    CHECK(places[0].work.launches == 1);
    CHECK(places[0].work.bytes == static_cast<std::int64_t>(sizeof(Real)));
    return value;
  };
  CHECK(add_one(true) == 3);
  CHECK(add_one(false) == 4);
  device_release(Device::kSimt, x);
}
#endif

}  // namespace
}  // namespace renar::roofline_test
