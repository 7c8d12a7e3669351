// Parity with the field's reference (tests/golden/model), and that a planted error is found.
#include "trainer/golden.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <tuple>

#include "core/check.h"
#include "tests/algos/golden.h"
#include "tests/core/scratch.h"
#include "tests/source_dir.h"

namespace renar::trainer_golden_test {
namespace {

const std::string kCases = test::source_dir() + "/tests/golden/model";
const std::string kManifest = kCases + "/manifest.json";

TEST_CASE("golden model: losses, gradients, predictions and scores are the reference's") {
  const std::vector<std::string> cases = golden_cases(kCases);
  CHECK(cases.size() == 18);
  for (const std::string& file : cases) {
    const GoldenReport r = run_golden(file, "");
    CHECK_MESSAGE(passes(r, golden_tolerance()), r.name, ": loss ", r.loss, ", gradient ",
                  r.gradient, " (", r.worst_gradient, "), of permutations ", r.permutation_gradient,
                  ", prediction ", r.prediction, " (", r.worst_prediction, "), score ", r.score);
  }
}

/// A case with one number of one array changed.
GoldenReport with_planted_error(const std::string& array, double change, std::size_t at = 0,
                                const std::string& name = "bfs") {
  const Scratch scratch;
  Npz arrays = read_golden("model/" + name + ".npz");
  const StoredArray& stored = array_of(arrays, array);
  std::vector<double> values = stored.doubles();
  values[at] += change;
  arrays[array] = StoredArray::of(stored.shape, values);
  write_npz(scratch.path(name + ".npz"), arrays);
  return run_golden(scratch.path(name + ".npz"), kManifest);
}

TEST_CASE("golden model: a planted error is not near any case") {
  const Scratch scratch;
  for (const auto& [array, change] :
       {std::pair{"grad/net/mpnn_aggr_clrs_processor/linear/w", 1e-2}, {"loss/total", 1e-3}}) {
    Npz arrays = read_golden("model/bfs.npz");
    const StoredArray& stored = array_of(arrays, array);
    std::vector<double> values = stored.doubles();
    values[0] += change;
    arrays[array] = StoredArray::of(stored.shape, values);
    write_npz(scratch.path("bfs.npz"), arrays);
    const GoldenReport r =
        run_golden_nearby(scratch.path("bfs.npz"), kManifest, golden_tolerance());
    CHECK(r.moved == 0);
    CHECK(!passes(r, golden_tolerance()));
  }
  CHECK(run_golden_nearby(kCases + "/bfs.npz", "", golden_tolerance()).moved == 0);
}

TEST_CASE("golden model: a planted error is found where it stands") {
  const GoldenTolerance tolerance = golden_tolerance();
  CHECK(passes(with_planted_error("loss/total", 0), tolerance));
  for (const char* loss : {"loss/total", "loss/output", "loss/hint/reach_h"}) {
    const GoldenReport r = with_planted_error(loss, 1e-3);
    CHECK(r.loss > tolerance.loss);
    CHECK(!passes(r, tolerance));
  }
  const std::string parameter = "net/mpnn_aggr_clrs_processor/linear/w";
  const GoldenReport gradient = with_planted_error("grad/" + parameter, 1e-2);
  CHECK(!passes(gradient, tolerance));
  CHECK(gradient.worst_gradient == "processor/m_1/w");
  CHECK(!passes(with_planted_error("param/" + parameter, 1e-2), tolerance));
  CHECK(!passes(with_planted_error("eval/score", 1e-2), tolerance));
  for (const char* logits : {"pred/output/pi", "pred/hint/reach_h", "eval/hint/pi_h"}) {
    const GoldenReport r = with_planted_error(logits, 1e-2);
    CHECK(!passes(r, tolerance));
    CHECK(r.worst_prediction == logits);
  }
}

TEST_CASE("golden model: planted errors in a permutation are found beside its -1e6") {
  const GoldenTolerance tolerance = golden_tolerance();
  const auto planted = [](const std::string& array, double change, std::size_t at = 0) {
    return with_planted_error(array, change, at, "insertion_sort");
  };
  CHECK(passes(planted("noise", 0), tolerance));
  CHECK(!passes(planted("noise", 1e-2, 1), tolerance));
  const std::string decoder = "net/~_construct_encoders_decoders/algo_0_pred_dec_linear_2/w";
  const GoldenReport gradient = planted("grad/" + decoder, 1e-2);
  CHECK(gradient.permutation_gradient > tolerance.permutation_gradient);
  CHECK(!passes(gradient, tolerance));
  const GoldenReport entry = planted("pred/output/pred", 1e-1, 1);  // beside the diagonal
  CHECK(entry.worst_prediction == "pred/output/pred");
  CHECK(!passes(entry, tolerance));
  CHECK(!passes(planted("pred/output/pred", 1e4), tolerance));  // on it
  // The first row chooses node 3; a 2 at node 1 makes it choose that one.
  CHECK(planted("eval/output/pred", 2, 1).worst_prediction == "eval/output/pred");
}

TEST_CASE("golden model: an error that is not a number is an infinite one") {
  for (const auto& [name, array, at] :
       {std::tuple{"insertion_sort", "eval/output/pred", 1},  // no larger than the one before it
        {"insertion_sort", "eval/output/pred_mask", 1},
        {"bfs", "eval/output/pi", 0},
        {"bfs", "pred/output/pi", 0}}) {
    CAPTURE(std::string(array));
    const GoldenReport r = with_planted_error(array, NAN, static_cast<std::size_t>(at), name);
    CHECK(r.prediction == HUGE_VAL);
    CHECK(r.worst_prediction == array);
    CHECK(!passes(r, golden_tolerance()));
  }
  CHECK(with_planted_error("loss/total", NAN).loss == HUGE_VAL);
  CHECK(with_planted_error("eval/score", NAN).score == HUGE_VAL);
}

TEST_CASE("golden model: an array that lacks numbers, or has too many, is refused") {
  const Scratch scratch;
  const Npz whole = read_golden("model/bfs.npz");
  const std::string parameter = "net/mpnn_aggr_clrs_processor/linear/w";
  for (const std::string& array :
       {"param/" + parameter, "grad/" + parameter, std::string("loss/total"),
        std::string("loss/hint/pi_h"), std::string("pred/output/pi"), std::string("pred/hint/pi_h"),
        std::string("eval/output/pi"), std::string("eval/hint/pi_h"), std::string("eval/score")}) {
    CAPTURE(array);
    std::vector<double> more = array_of(whole, array).doubles();
    more.push_back(0);
    for (const std::vector<double>& numbers : {std::vector<double>(), more}) {
      Npz arrays = whole;
      arrays[array] = StoredArray::of({numbers.size()}, numbers);
      write_npz(scratch.path("bfs.npz"), arrays);
      CHECK_THROWS_WITH_AS(run_golden(scratch.path("bfs.npz"), kManifest),
                           doctest::Contains((array + " has ").c_str()), Error);
    }
  }
  CHECK_THROWS_WITH_AS(with_planted_error("eval/output/pi", 1e9), doctest::Contains("chooses"),
                       Error);
}

TEST_CASE("golden model: files that are missing or not in the manifest") {
  CHECK_THROWS_AS(run_golden(kCases + "/nothing.npz", ""), Error);
  CHECK_THROWS_AS(run_golden(kCases + "/bfs.npz", kCases + "/nothing.json"), Error);
  const Scratch scratch;
  write_npz(scratch.path("other.npz"), read_golden("model/bfs.npz"));
  CHECK_THROWS_AS(run_golden(scratch.path("other.npz"), kManifest), Error);
}

}  // namespace
}  // namespace renar::trainer_golden_test
