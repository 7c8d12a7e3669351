// What the tests of core and kernels share: random numbers between guards, and the two ways to
// judge an op: its gradient against central differences (double build), and its fused form against
// its definition.
//
// Every tape here is poisoned: memory starts as NaN, so an element that an op forgot to write
// shows, and the NaN that stay between the end of a result and the next cache line show a write
// past that end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/tape.h"

namespace renar::test {

/// `* doctest::skip(kFloatBuild)` stands on cases that need double: they are counted as skipped.
#ifdef RENAR_REAL64
constexpr bool kFloatBuild = false;
#else
constexpr bool kFloatBuild = true;
#endif

/// Whether this build is under the address sanitizer, which is slow: `* doctest::skip(kSanitized)`
/// stands on nets that take long (shorter ones run there, all of them in the double build), on the
/// fingerprint (the release build's) and where barriers are left out, which moves no access.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// How far two orders of the same sum may lie apart, relative to the largest number.
constexpr double kRounding = kFloatBuild ? 1e-5 : 1e-12;

/// How often operator new has run in this process.
std::int64_t allocations();

/// Normal random numbers that depend on the seed alone.
std::vector<Real> random_values(std::int64_t count, std::uint64_t seed);

/// Values and gradient of one tensor, each between guards.
class Numbers {
 public:
  Numbers(Shape shape, const std::vector<Real>& values);
  static Numbers random(Shape shape, std::uint64_t seed);

  Tensor tensor();  ///< with a gradient
  Tensor data();    ///< without
  const Shape& shape() const { return shape_; }
  std::vector<Real> values() const { return inside(values_); }
  std::vector<Real> grad() const { return inside(grad_); }
  /// Fails the test where a guard was overwritten.
  void check_guards() const;

 private:
  std::vector<Real> inside(const std::vector<Real>& guarded) const;

  Shape shape_;
  std::vector<Real> values_, grad_;
};

/// A tape without parameters, poisoned and started.
struct FreshTape {
  explicit FreshTape(Tape::Mode mode = Tape::Mode::kRecord, Device device = Device::kCpu);
  Tape tape;
};

/// A number where the tape's device is, for as long as its trajectory: the scale of a loss.
const Real* sent(Tape& tape, Real number);

/// Fails where numbers differ by more than `tolerance` times the largest of `want` (at least 1), or
/// are NaN.
void check_same(const std::string& what, const std::vector<Real>& got,
                const std::vector<Real>& want, double tolerance = kRounding);
/// The same for the values of a result; checks too that nothing was written past its end.
void check_values(const Tensor& got, const std::vector<Real>& want, double tolerance = kRounding);

/// Sets the gradient of y and runs the tape backward.
void run_backward(Tape& tape, const Tensor& y, const std::vector<Real>& dy);

using Inputs = std::vector<Tensor>;
using Op = std::function<Tensor(Tape&, const Inputs&)>;
using Loss = std::function<void(Tape&, const Inputs&, double& sum)>;

/// Holds gradients of sum(random * op(inputs)) against central differences: signed, relative 1e-5
/// with a floor of 1e-9, over all entries of small inputs and some of large ones.
void check_gradient(const Op& op, std::vector<Numbers> inputs);
void check_loss_gradient(const Loss& loss, std::vector<Numbers> inputs);

/// Holds values and all gradients of `fused` against those of `composed`.
void same_value_and_gradient(const Op& fused, const Op& composed, std::vector<Numbers> inputs,
                             double tolerance = kRounding);

struct Extents {
  std::int64_t batch, nodes, hidden;
};
/// The sizes that ops are tried at: single nodes and channels, odd ones, those of the benchmark.
inline constexpr Extents kExtents[] = {{1, 1, 1},   {3, 1, 8},  {1, 2, 3},    {3, 2, 33},
                                       {1, 3, 16},  {3, 5, 8},  {1, 5, 128},  {1, 16, 33},
                                       {3, 16, 16}, {1, 20, 3}, {1, 20, 128}, {3, 20, 8}};

/// A random adjacency (B,N,N) of 0 / 1 in which some receivers hear nobody.
Numbers random_adjacency(std::int64_t batch, std::int64_t nodes, std::uint64_t seed);

/// Numbers rounded to halves, so that exact ties occur.
Numbers coarse(Shape shape, std::uint64_t seed);

}  // namespace renar::test
