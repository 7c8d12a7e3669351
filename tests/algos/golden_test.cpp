// All algorithms against the reference's data: trajectories as sampled and after the pipeline, the
// CLRS-30 splits by their checksums, and the peer's stream of training batches.
#include "tests/algos/golden.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include "algos/dataset.h"
#include "algos/pipeline.h"
#include "algos/registry.h"
#include "algos/training_stream.h"
#include "core/files.h"
#include "core/json.h"
#include "tests/source_dir.h"
#include "tests/support.h"

namespace renar::algos_golden_test {
namespace {

struct Case {
  unsigned seed;
  int nodes, count;
  std::string params;  // dataset or train; empty in pipeline files
};

/// The cases of a file, from its keys: seed<S>_n<N>_count<K>[_<params>]/...
std::set<std::string> cases_of(const Npz& golden) {
  std::set<std::string> cases;
  for (const auto& entry : golden) cases.insert(entry.first.substr(0, entry.first.find('/')));
  return cases;
}

Case parse(const std::string& name) {
  Case parsed{};
  char params[16] = "";
  REQUIRE(std::sscanf(name.c_str(), "seed%u_n%d_count%d_%15s", &parsed.seed, &parsed.nodes,
                      &parsed.count, params) >= 3);
  parsed.params = params;
  return parsed;
}

TraceBatch sample(const Algorithm& algorithm, const Case& c, const SamplerParams& params) {
  return make_dataset(algorithm, c.nodes, c.count, c.seed, params);
}

/// sum of w_i x_i with w_i = ((i * 2654435761) mod 2^32) / 2^32.
double weighted_sum(const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum +=
        static_cast<double>(static_cast<std::uint32_t>(i * 2654435761u)) / 4294967296.0 * values[i];
  }
  return sum;
}

/// One that dm-clrs does not have has no golden files.
bool is_of_the_reference(const Algorithm& algorithm) {
  const std::string file = "/tests/golden/trajectories/" + algorithm.name + ".npz";
  return algorithm.in_clrs30 || std::filesystem::exists(test::source_dir() + file);
}

TEST_CASE("golden: trajectories equal the reference's, bit for bit") {
  int compared = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!is_of_the_reference(algorithm)) continue;
    ++compared;
    const Npz golden = read_golden("trajectories/" + algorithm.name + ".npz");
    CHECK(cases_of(golden).size() == 4);
    for (const std::string& name : cases_of(golden)) {
      CAPTURE(algorithm.name);
      CAPTURE(name);
      const Case c = parse(name);
      const bool train = c.params == "train";
      const TraceBatch batch = sample(algorithm, c, train ? algorithm.training : algorithm.dataset);
      check_equals_golden(batch, golden, name + "/");
      const TraceBatch again = batch_from(algorithm.spec(), golden, name + "/");
      CHECK(again.values == batch.values);
      CHECK(again.lengths == batch.lengths);
    }
  }
  CHECK(compared == 32);
}

TEST_CASE("golden: the pipeline equals the reference's, bit for bit") {
  for (const Algorithm& algorithm : algorithms()) {
    if (!is_of_the_reference(algorithm)) continue;
    const Npz golden = read_golden("pipeline/" + algorithm.name + ".npz");
    CHECK(cases_of(golden).size() == 2);
    for (const std::string& name : cases_of(golden)) {
      CAPTURE(algorithm.name);
      CAPTURE(name);
      const Case c = parse(name);
      TraceBatch batch = sample(algorithm, c, algorithm.training);
      NumpyRandom random(c.seed + 1);
      apply(Pipeline(), algorithm, batch, random);
      check_equals_golden(batch, golden, name + "/");
    }
  }
}

constexpr bool kHasTestSets = !test::kSanitized;  // the sets of 64 nodes, which would take a minute

TEST_CASE("golden: the splits of CLRS-30 have the reference's checksums") {
  const std::string path = test::source_dir() + "/tests/golden/checksums/checksums.json";
  const Json golden = parse_json(read_file(path));
  std::set<std::string> left;  // keys that were not compared yet
  for (const auto& entry : golden.items()) {
    if (kHasTestSets || entry.key().find("/test/") == std::string::npos) left.insert(entry.key());
  }
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.in_clrs30) continue;
    for (const Split split : {Split::kVal, Split::kTest}) {
      if (split == Split::kTest && !kHasTestSets) continue;
      const std::string prefix = algorithm.name + "/" + std::string(clrs30(split).name) + "/";
      for (const auto& [key, array] : arrays_of(make_clrs30(algorithm, split), prefix)) {
        CAPTURE(key);
        left.erase(key);
        const Json& expected = golden.at(key);
        const std::vector<double> values = array.doubles();
        double sum = 0;
        for (const double x : values) sum += x;
        CHECK(array.shape == expected["shape"].get<std::vector<std::size_t>>());
        CHECK(sum == doctest::Approx(expected["sum"].get<double>()).epsilon(1e-9));
        CHECK(weighted_sum(values) ==
              doctest::Approx(expected["weighted"].get<double>()).epsilon(1e-9));
      }
    }
  }
  CHECK(left.empty());
}

TEST_CASE("golden: the clrs stream gives the peer's training batches") {
  for (const char* name :
       {"articulation_points", "bfs", "dfs", "graham_scan", "insertion_sort", "kmp_matcher"}) {
    CAPTURE(name);
    const Npz golden = read_golden("stream/stream_" + std::string(name) + ".npz");
    TrainingStream stream(find_algorithm(name), {.order = DataOrder::kClrs, .seed = 42});
    for (int step = 0; step < 6; ++step) {
      CAPTURE(step);
      check_equals_golden(stream.next(), golden, "batch" + std::to_string(step) + "/");
      if (step == 0) stream.note_evaluation();
    }
  }
}

}  // namespace
}  // namespace renar::algos_golden_test
