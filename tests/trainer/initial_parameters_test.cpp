// Parameters from a file: what is loaded, what starts anew, and what is refused with which words.
#include "trainer/initial_parameters.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/check.h"
#include "tests/algos/golden.h"
#include "tests/core/scratch.h"
#include "tests/nn/small.h"
#include "tests/source_dir.h"
#include "trainer/checkpoint.h"

namespace renar::initial_parameters_test {
namespace {

Net net_of(const std::vector<std::string>& algorithms, std::uint64_t seed, int hidden = 8) {
  NetOptions options = test::small_options("triplet_gmpnn", hidden);
  options.seed = seed;
  std::vector<Task> tasks;
  for (const std::string& name : algorithms) tasks.push_back({name, find_algorithm(name).spec()});
  return Net(tasks, options);
}

std::vector<Real> values(const Net& net) {
  return {net.parameters().values(), net.parameters().values() + net.parameters().size()};
}

/// Whether every parameter whose name begins so is the other net's.
bool same(const Net& a, const Net& b, const std::string& begin) {
  int compared = 0;
  for (const auto& [name, param] : a.parameters().entries()) {
    if (!name.starts_with(begin)) continue;
    const Real* other = b.parameters().at(b.parameters().find(name).param);
    if (!std::equal(other, other + param.shape.size(), a.parameters().at(param))) return false;
    ++compared;
  }
  REQUIRE(compared > 0);
  return true;
}

/// The error of loading; the net must be as before.
std::string refusal(const std::string& path, Net net) {
  const std::vector<Real> before = values(net);
  try {
    load_initial_parameters(path, net);
  } catch (const Error& error) {
    CHECK(values(net) == before);
    return error.what();
  }
  return "accepted";
}

void contains(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  CHECK(text.find(part) != std::string::npos);
}

TEST_CASE("initial_parameters: out and in again, to the bit, several algorithms too") {
  const Scratch scratch;
  const std::string npz = scratch.path("a.npz"), ours = scratch.path("a.safetensors");
  for (const auto& algorithms : std::vector<std::vector<std::string>>{{"dfs"}, {"dfs", "bfs"}}) {
    const Net from = net_of(algorithms, 1);
    CHECK(export_parameters(npz, from) == from.parameters().entries().size());
    save_parameters(ours, "any", from, 5);
    for (const std::string& path : {npz, ours}) {
      Net to = net_of(algorithms, 2);
      REQUIRE(values(to) != values(from));
      const std::string line = load_initial_parameters(path, to);
      CHECK(values(to) == values(from));
      contains(line, "the processor");
      CHECK(line.find("anew") == std::string::npos);
      CHECK(line.find("left out") == std::string::npos);
    }
  }
}

TEST_CASE("initial_parameters: the golden files' parameters") {
  NetOptions options = test::small_options("triplet_gmpnn", 16);
  options.processor.triplet_fts = 8;
  Net net("dfs", find_algorithm("dfs").spec(), options);
  load_initial_parameters(test::source_dir() + "/tests/golden/model/dfs.npz", net);
  const std::vector<double> theirs =
      array_of(read_golden("model/dfs.npz"), "param/net/mpnn_aggr_clrs_processor/linear/w")
          .doubles();
  const Real* mine = net.parameters().at(net.parameters().find("processor/m_1/w").param);
  CHECK(std::equal(theirs.begin(), theirs.end(), mine,
                   [](double a, Real b) { return static_cast<Real>(a) == b; }));
}

TEST_CASE("initial_parameters: the ReNAR authors' parameters, with what nothing reads") {
  const std::string file = test::source_dir() + "/tests/golden/model/mrenar_bfs.npz";
  NetOptions options = test::small_options("triplet_gmpnn", 16);
  options.processor.triplet_fts = 8;
  options.reconstruction.method = Method::kRenar;
  Net net("bfs", find_algorithm("bfs").spec(), options);
  contains(load_initial_parameters(file, net), "bfs of ");
  const std::vector<double> gate =
      array_of(read_golden("model/mrenar_bfs.npz"), "param/net/node_gatenet/~/linear_3/b")
          .doubles();
  const Real* found =
      net.parameters().at(net.parameters().find("reconstruction/gate_node/gate_3/b").param);
  for (std::size_t i = 0; i < gate.size(); ++i) CHECK(found[i] == static_cast<Real>(gate[i]));
  // A baseline has neither the GNN nor the names.
  options.reconstruction.method = Method::kBaseline;
  contains(refusal(file, Net("bfs", find_algorithm("bfs").spec(), options)), "has no net/");
}

TEST_CASE("initial_parameters: a run of other algorithms gives its processor and what it shares") {
  const Scratch scratch;
  const std::string path = scratch.path("last.safetensors");
  const Net from = net_of({"dfs", "heapsort"}, 1);
  TrainState state;
  state.optimizer.m = state.optimizer.v = std::vector<Real>(values(from).size());
  state.carried = {{1, 2, 3}, {}, {4}};  // of a chunked run
  save_state(path, "dfs, heapsort", from, state);
  const Net fresh = net_of({"bfs", "dfs"}, 2);
  Net to = net_of({"bfs", "dfs"}, 2);
  const std::string line = load_initial_parameters(path, to);
  CHECK(same(to, from, "processor/"));
  CHECK(same(to, from, "dfs/"));
  CHECK(same(to, fresh, "bfs/"));
  contains(line, "the processor, dfs");
  contains(line, "start anew: bfs");
  contains(line, "left out: heapsort");
}

TEST_CASE("initial_parameters: an .npz without the encoders and decoders is a processor") {
  const Scratch scratch;
  const std::string path = scratch.path("a.npz");
  const Net from = net_of({"dfs"}, 1), fresh = net_of({"bfs"}, 2);
  export_parameters(path, from);
  contains(refusal(path, net_of({"bfs"}, 2)), "without all algo_0_.. arrays");
  Npz arrays = read_npz(path);
  std::erase_if(arrays,
                [](const auto& entry) { return entry.first.find("algo_0_") != entry.first.npos; });
  write_npz(path, arrays);
  Net to = net_of({"bfs"}, 2);
  contains(load_initial_parameters(path, to), "start anew: bfs");
  CHECK(same(to, from, "processor/"));
  CHECK(same(to, fresh, "bfs/"));
}

TEST_CASE("initial_parameters: what does not fit is named, with both shapes") {
  const Scratch scratch;
  const std::string path = scratch.path("a.npz"), linear = "net/mpnn_aggr_clrs_processor/linear";
  const auto changed = [&](const auto& change) {
    export_parameters(path, net_of({"bfs"}, 1));
    Npz arrays = read_npz(path);
    change(arrays);
    write_npz(path, arrays);
    return refusal(path, net_of({"bfs"}, 2));
  };
  CHECK(changed([](Npz&) {}) == "accepted");
  contains(changed([&](Npz& npz) { npz.erase(linear + "_3/b"); }),
           "has no " + linear + "_3/b, which is (8) here");
  contains(changed([&](Npz& npz) { npz[linear + "_99/b"] = npz[linear + "_3/b"]; }),
           linear + "_99/b of (8), which this net has not");
  contains(changed([&](Npz& npz) {
             npz[linear + "/w"].shape = {8, 16};
           }),
           linear + "/w is (8, 16), here it is (16, 8)");
  contains(changed([&](Npz& npz) {
             npz[linear + "/b"] = StoredArray::of(
                 {8}, std::vector<float>(8, std::numeric_limits<float>::quiet_NaN()));
           }),
           "not finite");
  contains(changed([&](Npz& npz) {
             npz[linear + "/b"] = StoredArray::of({8}, std::vector<std::int32_t>(8));
           }),
           "is int32");
  const std::string probe = "net/~_construct_encoders_decoders/algo_0_pos_enc_linear/";
  contains(changed([&](Npz& npz) { npz.erase(probe + "b"); }), "algo_0 is bfs here");
  contains(changed([&](Npz& npz) {
             npz["net/~_construct_encoders_decoders/algo_1_pos_enc_linear/b"] = npz[probe + "b"];
           }),
           "this run has 1 algorithm");

  export_parameters(path, net_of({"bfs"}, 1, 16));
  contains(refusal(path, net_of({"bfs"}, 2)), "(32, 16), here it is (16, 8)");
}

TEST_CASE("initial_parameters: other files are refused") {
  const Scratch scratch;
  contains(refusal("weights.pkl", net_of({"bfs"}, 1)), "neither a .safetensors");
  contains(refusal("i\xff.safetensors", net_of({"bfs"}, 1)), "is not UTF-8");
  contains(refusal("\xc3\xb6.safetensors", net_of({"bfs"}, 1)), "cannot open");  // that is
  contains(refusal(scratch.path("none.npz"), net_of({"bfs"}, 1)), "none.npz");
  contains(
      refusal(test::source_dir() + "/tests/golden/random/random_state.npz", net_of({"bfs"}, 1)),
      "has no net/");
  const std::string path = scratch.path("a.safetensors");
  Net gated("bfs", find_algorithm("bfs").spec(), test::small_options("triplet_gpgn"));
  save_parameters(path, "bfs", gated, 1);
  contains(refusal(path, net_of({"bfs"}, 1)), "has the processor triplet_gpgn");
}

}  // namespace
}  // namespace renar::initial_parameters_test
