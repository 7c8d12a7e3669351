// The door from traces to tensors: values, lengths, ranges, and another algorithm's traces.
#include "trainer/batch.h"

#include <doctest/doctest.h>

#include "algos/dataset.h"
#include "core/check.h"

namespace renar::trainer_batch_test {
namespace {

TraceBatch traces(const char* algo) {
  return make_dataset(find_algorithm(algo), 5, 4, 3, {.p = {0.0, 0.5}});
}

TEST_CASE("trainer batch: the numbers of the traces, cut into shards") {
  const TraceBatch from = traces("bfs");
  Batch batch;
  fill_batch(from.spec, traces("bfs"), batch);
  CHECK(batch.size == 4);
  CHECK(batch.nodes == 5);
  CHECK(batch.frames == from.frames);
  CHECK(batch.lengths == from.lengths);
  CHECK(batch.shards.back().end == 4);
  for (std::size_t p = 0; p < from.spec.size(); ++p) {
    std::vector<Real> want;
    for (const double value : from.values[p]) want.push_back(static_cast<Real>(value));
    CHECK(batch.values[p] == want);
  }
}

TEST_CASE("trainer batch: a batch that is filled again forgets what it held") {
  Batch batch, fresh;
  const TraceBatch first = make_dataset(find_algorithm("bfs"), 9, 7, 1, {.p = {0.5}});
  const TraceBatch second = traces("bfs");
  fill_batch(first.spec, first, batch);
  fill_batch(second.spec, second, batch);
  fill_batch(second.spec, second, fresh);
  CHECK(batch.values == fresh.values);
  CHECK(batch.order == fresh.order);
  CHECK(batch.shards.size() == fresh.shards.size());
}

TEST_CASE("trainer batch: a range of samples, padded to its own longest") {
  const TraceBatch from = traces("bfs");
  const Batch range = batch_of_range(from.spec, from, 1, 3);
  CHECK(range.size == 2);
  CHECK(range.lengths == std::vector<int>{from.lengths[1], from.lengths[2]});
  CHECK(range.frames == std::max(from.lengths[1], from.lengths[2]));
  const std::size_t pi = from.spec.index_of("pi");
  for (int b = 1; b < 3; ++b) {
    for (int i = 0; i < 5; ++i) {
      CHECK(range.at(pi, 0, b - 1)[i] ==
            static_cast<Real>(from.values[pi][static_cast<std::size_t>(b * 5 + i)]));
    }
  }
}

TEST_CASE("trainer batch: traces of another algorithm are refused") {
  Batch batch;
  CHECK_THROWS_AS(fill_batch(find_algorithm("dfs").spec(), traces("bfs"), batch), Error);
}

}  // namespace
}  // namespace renar::trainer_batch_test
