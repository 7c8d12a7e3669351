// What is carried from chunk to chunk: rows go to their slots and come back from them.
#include "nn/carried_state.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/support.h"

namespace renar::carried_state_test {
namespace {

const Spec kSpec = {{"x", Stage::kInput, Location::kNode, Type::kScalar}};

/// Four parts, listed and run in this order: slots 1, 0, 2, 1; the first and third start anew.
Batch four_parts() {
  Batch batch;
  batch.spec = &kSpec;
  batch.size = 4;
  batch.nodes = 1;
  batch.frames = 3;
  batch.lengths = {3, 3, 3, 2};
  batch.values = {{0, 0, 0, 0}};
  batch.parts = {{1, false, false}, {0, true, false}, {2, false, false}, {1, true, true}};
  batch.slots = 3;
  batch.cut();
  return batch;
}

TEST_CASE("carried_state: rows go to their slots, and back to the parts that go on") {
  const Batch batch = four_parts();
  const Samples samples(batch, {0, 4});
  test::FreshTape fresh;
  const auto tensors = [&](Real first) {
    CarriedTensors two;
    two.add(fresh.tape.constant({4, 2}));
    two.add(fresh.tape.constant({4, 1, 1}));
    for (std::size_t i = 0; i < 2; ++i) {
      const Tensor& x = two.tensors[i];
      for (std::int64_t k = 0; k < x.size(); ++k) x.data[k] = first + Real(10 * i) + Real(k);
    }
    return two;
  };
  CarriedState state;
  state.fit(3, {2, 1});
  CHECK(state.values() == std::vector<Real>(9));
  state.put_down(fresh.tape, samples, 0, 3,
                 tensors(100));                   // rows (100, 101 | 110), (102, 103 | 111), ..
  CHECK(state.values() == std::vector<Real>(9));  // not before the chunk is over
  state.turn();
  CHECK(state.values() == std::vector<Real>{102, 103, 111, 100, 101, 110, 104, 105, 112});

  const CarriedTensors taken = tensors(0);
  state.take_up(fresh.tape, samples, taken);
  test::check_values(taken.tensors[0], {0, 1, 102, 103, 4, 5, 100, 101}, 0);
  test::check_values(taken.tensors[1], {10, 111, 12, 110}, 0);

  state.put_down(fresh.tape, samples, 1, 2, tensors(0));
  state.turn();
  CHECK(state.values() == std::vector<Real>{2, 3, 11, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("carried_state: another width or number of slots is refused") {
  CarriedState state(std::vector<Real>(12));
  CHECK_THROWS_WITH_AS(state.fit(4, {2}), doctest::Contains("expected 4 slots of 2"), Error);
  CHECK_NOTHROW(state.fit(4, {1, 2}));
  CHECK_NOTHROW(state.fit(4, {1, 2}));
  for (const std::vector<std::int64_t>& other : {std::vector<std::int64_t>{2}, {2, 1}, {3}}) {
    CHECK_THROWS_AS(state.fit(4, other), Error);
  }
  CHECK_THROWS_AS(state.fit(3, {1, 2}), Error);
}

}  // namespace
}  // namespace renar::carried_state_test
