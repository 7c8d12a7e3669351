// Marks by hand, in the order of a shard.
#include "nn/step_marks.h"

#include <doctest/doctest.h>

#include "tests/nn/small.h"
#include "tests/support_device.h"

namespace renar::step_marks_test {
namespace {

const Spec kSpec = {{"x", Stage::kInput, Location::kNode, Type::kScalar},
                    {"x_h", Stage::kHint, Location::kNode, Type::kScalar}};
using Marks = std::vector<std::uint8_t>;

Marks fetched(Tape& tape, const std::uint8_t* marks, std::int64_t count) {
  const std::uint8_t* here = tape.fetch(marks, count);
  return {here, here + count};
}

TEST_CASE("step marks: a sample's last step, and until when it is compared") {
  const auto device = test::accelerator();
  const Batch batch = test::random_batch(kSpec, 2, {1, 4, 3, 2});  // longest first 4, 3, 2, 1
  for (const Device on : {Device::kCpu, device.value_or(Device::kCpu)}) {
    test::FreshTape fresh(Tape::Mode::kRecord, on);
    const Samples samples(batch, {0, 4}, Lengths::kRounded);
    const StepMarks marks(fresh.tape, samples);
    const Marks last[] = {{0, 0, 1, 1}, {0, 1, 0, 0}, {1, 0, 0, 0}};
    const Marks compared[] = {{1, 1, 1, 0}, {1, 1, 0, 0}, {1, 0, 0, 0}};
    for (std::int64_t step = 0; step < 3; ++step) {
      CHECK(fetched(fresh.tape, marks.last(step), 4) == last[step]);
      CHECK(fetched(fresh.tape, marks.compared(step), 4) == compared[step]);
    }
  }
}

TEST_CASE("step marks: none where lengths are their own") {
  const Batch batch = test::random_batch(kSpec, 2, {1, 4});
  test::FreshTape fresh;
  CHECK(StepMarks(fresh.tape, Samples(batch, {0, 2})).compared(0) == nullptr);
}

}  // namespace
}  // namespace renar::step_marks_test
