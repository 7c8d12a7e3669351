// Checkpoints: every bit comes back, and a file that is not for this net leaves it as it was.
#include "trainer/checkpoint.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/check.h"
#include "core/files.h"
#include "core/safetensors.h"
#include "tests/core/scratch.h"
#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::checkpoint_test {
namespace {

using test::small_net;
using test::small_options;
using Values = std::vector<Real>;

Values values(const Net& net) {
  return {net.parameters().values(), net.parameters().values() + net.parameters().size()};
}

Net net_of_seed(std::uint64_t seed, const std::string& kind = "triplet_gmpnn", int hidden = 8,
                bool layer_norm = true) {
  NetOptions options = small_options(kind, hidden);
  options.seed = seed;
  options.processor.layer_norm = layer_norm;
  return small_net("bfs", options);
}

TrainState state_of(const Net& net) {
  TrainState state{.step = 17,
                   .best_score = 1.0 / 3,
                   .best_step = 12,
                   .seconds = 0.1,
                   .validation_seconds = 0.2,
                   .optimizer = {17, test::random_values(net.parameters().size(), 5),
                                 test::random_values(net.parameters().size(), 6)},
                   .stream = {0, 4294967295u, 7}};
  return state;
}

// Both loaders on `path` throw and leave `net` alone.
void check_refused(const std::string& path, Net& net, const std::string& algo,
                   const std::string& word) {
  const Values before = values(net);
  for (const bool whole_state : {false, true}) {
    std::string said;
    try {
      whole_state ? static_cast<void>(load_state(path, algo, net))
                  : static_cast<void>(load_parameters(path, algo, net));
    } catch (const Error& error) {
      said = error.what();
    }
    CHECK_MESSAGE(said.find(word) != std::string::npos, "'", said, "' does not say '", word, "'");
    CHECK(values(net) == before);
  }
}

TEST_CASE("checkpoint: parameters and state come back with all their bits") {
  const Scratch scratch;
  const Net net = net_of_seed(1);
  const TrainState state = state_of(net);
  save_parameters(scratch.path("best"), "bfs", net, 12);
  save_state(scratch.path("last"), "bfs", net, state);
  Net a = net_of_seed(2), b = net_of_seed(3);
  REQUIRE(values(a) != values(net));
  CHECK(load_parameters(scratch.path("best"), "bfs", a) == 12);
  CHECK(values(a) == values(net));
  const TrainState loaded = load_state(scratch.path("last"), "bfs", b);
  CHECK(values(b) == values(net));
  CHECK(loaded.step == 17);
  CHECK(loaded.best_score == 1.0 / 3);
  CHECK(loaded.best_step == 12);
  CHECK(loaded.seconds == 0.1);
  CHECK(loaded.validation_seconds == 0.2);
  CHECK(loaded.optimizer.steps == 17);
  CHECK(loaded.optimizer.m == state.optimizer.m);
  CHECK(loaded.optimizer.v == state.optimizer.v);
  CHECK(loaded.stream == state.stream);
}

TEST_CASE("checkpoint: what chunks carry comes back by lane, lanes without any included") {
  const Scratch scratch;
  const Net net = net_of_seed(1);
  TrainState state = state_of(net);
  Net loaded = net_of_seed(2);
  save_state(scratch.path("last"), "bfs", net, state);
  CHECK(load_state(scratch.path("last"), "bfs", loaded).carried.empty());
  state.carried = {{}, test::random_values(7, 8), {}, test::random_values(3, 9)};
  save_state(scratch.path("last"), "bfs", net, state);
  CHECK(load_state(scratch.path("last"), "bfs", loaded).carried == state.carried);
  CHECK(values(loaded) == values(net));
}

TEST_CASE("checkpoint: another algorithm, processor or size is refused by name") {
  const Scratch scratch;
  const std::string path = scratch.path("last");
  const Net net = net_of_seed(1);
  save_state(path, "bfs", net, state_of(net));
  Net same = net_of_seed(2), processor = net_of_seed(2, "gmpnn"),
      hidden = net_of_seed(2, "triplet_gmpnn", 16);
  check_refused(path, same, "dfs", "was trained on bfs, not on dfs");
  check_refused(path, processor, "bfs", "has the processor triplet_gmpnn, not gmpnn");
  check_refused(path, hidden, "bfs", "expected (32,16)");
  Net no_norm = net_of_seed(2, "triplet_gmpnn", 8, false);
  check_refused(path, no_norm, "bfs", "it was trained with other options");
}

TEST_CASE("checkpoint: a best.safetensors is not a state") {
  const Scratch scratch;
  Net net = net_of_seed(1);
  save_parameters(scratch.path("best"), "bfs", net, 12);
  Net other = net_of_seed(2);
  const Values before = values(other);
  CHECK_THROWS_AS(load_state(scratch.path("best"), "bfs", other), Error);
  CHECK(values(other) == before);
}

TEST_CASE("checkpoint: damaged, foreign and missing files are refused") {
  const Scratch scratch;
  const std::string path = scratch.path("last");
  Net net = net_of_seed(1);
  save_state(path, "bfs", net, state_of(net));
  const std::string whole = read_file(path);
  Net other = net_of_seed(2);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, whole.size() / 2, whole.size() - 1}) {
    write_file_atomically(path, whole.substr(0, size));
    check_refused(path, other, "bfs", path);
  }
  check_refused(scratch.path("nothing"), other, "bfs", "nothing");
  write_safetensors(path, {{}, {{"w", StoredArray::of<float>({1}, {1})}}});
  check_refused(path, other, "bfs", "not a file of renar");

  // moments of another size, a parameter that is missing, a step that is no number
  const SafetensorsFile good = decode_safetensors(whole, "good");
  const auto refuse_changed = [&](auto change) {
    SafetensorsFile file = good;
    change(file);
    write_safetensors(path, file);
    const Values before = values(other);
    CHECK_THROWS_AS(load_state(path, "bfs", other), Error);
    CHECK(values(other) == before);
  };
  refuse_changed([](SafetensorsFile& file) {
    for (auto& tensor : file.tensors) {
      if (tensor.name == "optimizer/m") tensor.array = StoredArray::of<Real>({2}, {1, 2});
    }
  });
  refuse_changed([](SafetensorsFile& file) { file.tensors.erase(file.tensors.begin()); });
  refuse_changed([](SafetensorsFile& file) { file.metadata["step"] = "1x"; });
  refuse_changed([](SafetensorsFile& file) { file.metadata.erase("updates"); });
  // counters that no run can have
  for (const auto& [key, value] : {std::pair{"step", "-5"},
                                   {"step", "12"},
                                   {"best_step", "-2"},
                                   {"best_score", "nan"},
                                   {"seconds", "nan"},
                                   {"validation_seconds", "inf"},
                                   {"updates", "-1"},
                                   {"updates", "0"}}) {
    refuse_changed([&](SafetensorsFile& file) { file.metadata[key] = value; });
  }
  refuse_changed([](SafetensorsFile& file) { file.metadata["format"] = "renar-2"; });

  // Also of errors that know nothing of files the path is told.
  SafetensorsFile other_type = good, infinite = good;
  StoredArray& weights = other_type.tensors[0].array;
  weights = StoredArray::of<std::int32_t>(
      weights.shape, std::vector<std::int32_t>(weights.bytes.size() / sizeof(Real)));
  write_safetensors(path, other_type);
  check_refused(path, other, "bfs", path);
  std::vector<Real> numbers = infinite.tensors[0].array.exactly<Real>();
  numbers[0] = std::numeric_limits<Real>::quiet_NaN();
  infinite.tensors[0].array = StoredArray::of(infinite.tensors[0].array.shape, numbers);
  write_safetensors(path, infinite);
  check_refused(path, other, "bfs", "holds a number that is not finite");
  CHECK_THROWS_WITH_AS(load_parameters(path, "bfs", other), doctest::Contains("is not finite"),
                       Error);
}

}  // namespace
}  // namespace renar::checkpoint_test
