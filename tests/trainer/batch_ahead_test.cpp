// Batches made ahead are the stream's own, and so is the state that a checkpoint would hold.
#include "trainer/batch_ahead.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/nn/small.h"

namespace renar::batch_ahead_test {
namespace {

using test::both;
using test::net_of_both;

StreamConfig small(DataOrder order) {
  return {.order = order, .seed = 7, .lengths = {2, 5}, .val_length = 4, .batch_size = 3};
}

TEST_CASE("batch_ahead: the same batches, whether begun early or late") {
  const Net net = net_of_both();
  for (const DataOrder order : {DataOrder::kOwn, DataOrder::kClrs}) {
    TrainingStream plain(both(), small(order)), stream(both(), small(order));
    WholeTrajectories source(stream, net);
    BatchAhead ahead(source);
    for (int i = 0; i < 9; ++i) {
      Batch expected;
      fill_batch(net.spec(i % 2), plain.next(), expected);
      if (i % 3 > 0) ahead.start();
      if (i % 3 > 1) ahead.start();  // no second batch
      const Batch& batch = ahead.take();
      CHECK(batch.task == i % 2);
      CHECK(batch.values == expected.values);
      CHECK(batch.lengths == expected.lengths);
      CHECK(ahead.state() == plain.state());
      if (i % 2 == 0) ahead.start();
      CHECK(ahead.state() == plain.state());  // the batch on its way does not count
      CHECK(batch.values == expected.values);
    }
  }
}

/// A sampler that has no samples.
struct NoBatches final : TrainingBatches {
  void next(Batch&) override { throw Error("no samples"); }
  std::vector<std::uint32_t> state() const override { return {}; }
  void restore(std::span<const std::uint32_t>) override {}
  std::vector<std::uint32_t> state_before_last() const override { return {}; }
};

TEST_CASE("batch_ahead: what a sampler throws comes out of take") {
  NoBatches source;
  BatchAhead ahead(source);
  CHECK_THROWS_WITH_AS(ahead.take(), "no samples", Error);
}

}  // namespace
}  // namespace renar::batch_ahead_test
