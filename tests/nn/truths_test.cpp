// Truths by hand, in the order of a shard; a device's are the CPU's.
#include "nn/truths.h"

#include <doctest/doctest.h>

#include "kernels/mask_cross_entropy.h"
#include "kernels/squared_error.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::truths_test {
namespace {

const Spec kSpec = {
    {"in", Stage::kInput, Location::kNode, Type::kScalar},
    {"x_h", Stage::kHint, Location::kGraph, Type::kScalar},
    {"color_h", Stage::kHint, Location::kNode, Type::kCategorical, 3},
    {"at_h", Stage::kHint, Location::kNode, Type::kMaskOne},
    {"edge_h", Stage::kHint, Location::kEdge, Type::kMask},
    {"to", Stage::kOutput, Location::kNode, Type::kPointer},
    {"edge_to", Stage::kOutput, Location::kEdge, Type::kPointer},
    {"order", Stage::kOutput, Location::kNode, Type::kPermutationPointer},
    {"mask", Stage::kOutput, Location::kNode, Type::kMask},
};
constexpr std::int64_t kNodes = 2;

/// Three samples, longest first 1, 2, 0. Scalars and masks say where they stand: 100 * frame +
/// 10 * sample + number; pointers point at one another, rows mark a class that moves on.
Batch three_samples() {
  Batch batch;
  batch.spec = &kSpec;
  batch.size = 3;
  batch.nodes = kNodes;
  batch.frames = 3;
  batch.lengths = {1, 3, 2};
  for (const Probe& probe : kSpec) {
    std::vector<Real>& values = batch.values.emplace_back();
    const auto stride = static_cast<std::int64_t>(count_of(probe, static_cast<int>(kNodes)));
    const std::int64_t range = choices(probe, kNodes);
    for (std::int64_t t = 0; t < (probe.stage == Stage::kHint ? batch.frames : 1); ++t) {
      for (std::int64_t b = 0; b < batch.size; ++b) {
        for (std::int64_t i = 0; i < stride; ++i) {
          const std::int64_t marked = (t + b + i / range) % range;
          const std::int64_t value = !truth_is_class(probe) ? 100 * t + 10 * b + i
                                     : is_index(probe)      ? (t + b + i) % kNodes
                                                            : std::int64_t{i % range == marked};
          values.push_back(static_cast<Real>(value));
        }
      }
    }
  }
  batch.cut();
  return batch;
}

using Values = std::vector<Real>;
using Classes = std::vector<std::int32_t>;

TEST_CASE("truths: numbers as they are written and the classes that are marked, in shard order") {
  Batch batch = three_samples();
  const Samples samples(batch, {0, 3});
  test::FreshTape fresh;
  const Truths truths(fresh.tape, samples, HintMode::kEncodedDecoded);
  const auto numbers = [&](const char* probe, std::int64_t frame, std::int64_t begin,
                           std::int64_t end) {
    const std::size_t p = kSpec.index_of(probe);
    const Real* found = truths.numbers(p, frame, begin, end);
    return Values(found, found + (end - begin) * truths.each(p));
  };
  const auto classes = [&](const char* probe, std::int64_t frame, std::int64_t begin,
                           std::int64_t end) {
    const std::size_t p = kSpec.index_of(probe);
    const std::int32_t* found = truths.classes(p, frame, begin, end);
    return Classes(found, found + (end - begin) * truths.each(p));
  };
  CHECK(numbers("x_h", 1, 0, 2) == Values{110, 120});
  CHECK(numbers("mask", 0, 1, 3) == Values{20, 21, 0, 1});
  CHECK(numbers("edge_h", 2, 0, 1) == Values{210, 211, 212, 213});
  CHECK(classes("color_h", 1, 0, 2) == Classes{2, 0, 0, 1});
  CHECK(classes("at_h", 2, 0, 1) == Classes{1});
  CHECK(classes("to", 0, 0, 3) == Classes{1, 0, 0, 1, 0, 1});  // a pointer is its own class
  CHECK(classes("edge_to", 0, 2, 3) == Classes{0, 1, 0, 1});
  CHECK(classes("order", 0, 0, 1) == Classes{1, 0});
  Values& at = batch.values[kSpec.index_of("at_h")];
  at.assign(at.size(), -1);
  CHECK(classes("at_h", 1, 0, 2) == Classes{-1, -1});  // nothing is marked with 1
}

TEST_CASE("truths: a rounded length goes on with what no loss counts") {
  const Batch batch = three_samples();  // lengths 3, 2 and 1, of which the first two are a group
  const Samples samples(batch, {0, 3}, Lengths::kRounded);
  test::FreshTape fresh;
  const Truths truths(fresh.tape, samples, HintMode::kEncodedDecoded);
  const auto numbers = [&](const char* probe, std::int64_t frame, std::int64_t end) {
    const std::size_t p = kSpec.index_of(probe);
    const Real* found = truths.numbers(p, frame, 0, end);
    return Values(found, found + end * truths.each(p));
  };
  const auto classes = [&](const char* probe, std::int64_t frame, std::int64_t end) {
    const std::size_t p = kSpec.index_of(probe);
    const std::int32_t* found = truths.classes(p, frame, 0, end);
    return Classes(found, found + end * truths.each(p));
  };
  CHECK(numbers("x_h", 1, 3) == Values{110, 120, kUncounted});
  CHECK(numbers("x_h", 2, 2) == Values{210, kUncounted});
  CHECK(numbers("edge_h", 2, 2) == Values{210, 211, 212, 213, kMasked, kMasked, kMasked, kMasked});
  CHECK(classes("color_h", 1, 3) == Classes{2, 0, 0, 1, -1, -1});
  CHECK(classes("at_h", 2, 2) == Classes{1, -1});
  CHECK(numbers("mask", 0, 3) == Values{10, 11, 20, 21, 0, 1});  // an output is everybody's
}

TEST_CASE("truths: of outputs, and of hints where they are predicted") {
  const Batch batch = three_samples();
  const Samples samples(batch, {0, 3});
  test::FreshTape fresh;
  for (const HintMode hints :
       {HintMode::kEncodedDecoded, HintMode::kDecodedOnly, HintMode::kNone}) {
    const Truths truths(fresh.tape, samples, hints);
    for (std::size_t p = 0; p < kSpec.size(); ++p) {
      const Stage stage = kSpec[p].stage;
      const bool hint = stage == Stage::kHint && hints != HintMode::kNone;
      CHECK(truths.has(p) == (hint || stage == Stage::kOutput));
    }
  }
}

/// What is compared in the order of steps, of one probe.
template <class Numbers>
std::vector<Real> all_of(Tape& tape, const Samples& samples, const Truths& truths, std::size_t p,
                         Numbers numbers_of) {
  std::vector<Real> all;
  const bool hint = kSpec[p].stage == Stage::kHint;
  for (std::int64_t step = 0; step < (hint ? samples.steps() : 1); ++step) {
    const std::int64_t end = hint ? samples.compared(step) : samples.size();
    for (std::int64_t begin = 0; begin < end; ++begin) {
      const auto* found = numbers_of(p, hint ? step + 1 : 0, begin, end);
      const std::int64_t count = (end - begin) * truths.each(p);
      found = tape.fetch(found, count);
      all.insert(all.end(), found, found + count);
    }
  }
  return all;
}

std::vector<Real> all_on(Device device, const Batch& batch, HintMode hints,
                         Lengths lengths = Lengths::kOwn) {
  const Samples samples(batch, {0, batch.size}, lengths);
  test::FreshTape fresh(Tape::Mode::kRecord, device);
  const Truths truths(fresh.tape, samples, hints);
  std::vector<Real> all;
  const auto add = [&](const std::vector<Real>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  for (std::size_t p = 0; p < kSpec.size(); ++p) {
    if (!truths.has(p)) continue;
    if (truth_is_class(kSpec[p])) {
      add(all_of(fresh.tape, samples, truths, p,
                 [&](auto... of) { return truths.classes(of...); }));
    } else {
      add(all_of(fresh.tape, samples, truths, p,
                 [&](auto... of) { return truths.numbers(of...); }));
    }
  }
  return all;
}

TEST_CASE("truths: a device has in one copy what the CPU makes when asked") {
  const std::optional<Device> device = test::accelerator();
  if (!device) return;
  Batch batch = three_samples();
  for (const HintMode hints : {HintMode::kEncodedDecoded, HintMode::kNone}) {
    CHECK(all_on(*device, batch, hints) == all_on(Device::kCpu, batch, hints));
    CHECK(all_on(*device, batch, hints, Lengths::kRounded) ==
          all_on(Device::kCpu, batch, hints, Lengths::kRounded));
  }
  batch.lengths = {1, 1, 1};  // no frame of a hint is compared
  batch.cut();
  const std::vector<Real> outputs = all_on(*device, batch, HintMode::kEncodedDecoded);
  CHECK(outputs == all_on(Device::kCpu, batch, HintMode::kNone));
}

}  // namespace
}  // namespace renar::truths_test
