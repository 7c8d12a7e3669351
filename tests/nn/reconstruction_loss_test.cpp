// L_rec: its divisors counted by hand, and which rows of classes count.
#include "nn/reconstruction_loss.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/nn/small.h"
#include "tests/support.h"

namespace renar::nn_reconstruction_loss_test {
namespace {

Spec hints_of(const std::vector<Probe>& hints) {
  std::vector<Probe> probes = {{"x", Stage::kInput, Location::kNode, Type::kScalar}};
  probes.insert(probes.end(), hints.begin(), hints.end());
  return Spec(probes);
}

ReconstructionScales scales_of(const Batch& batch, const MaskOptions& masks, double weight,
                               const HintFeedback& feedback = {}) {
  ReconstructionScales scales;
  scales.count(batch, masks, weight, feedback, {});
  return scales;
}

TEST_CASE("reconstruction_loss: where nothing is hidden all elements that step i reads count") {
  const Spec spec = hints_of({{"s", Stage::kHint, Location::kNode, Type::kScalar},
                              {"p", Stage::kHint, Location::kNode, Type::kPointer},
                              {"e", Stage::kHint, Location::kEdge, Type::kScalar},
                              {"g", Stage::kHint, Location::kGraph, Type::kScalar},
                              {"o", Stage::kHint, Location::kNode, Type::kMaskOne}});
  // Lengths 3, 1 and 2: steps 0 and 1 of the first sample, none, and step 0 of the third.
  Batch batch = test::random_batch(spec, 4, {3, 1, 2});
  std::fill(batch.values[5].begin(), batch.values[5].end(), Real{0});
  for (std::size_t row = 0; row < 9; ++row) batch.values[5][row * 4] = 1;
  const ReconstructionScales scales = scales_of(batch, {}, 0.5);
  REQUIRE(scales.all().size() == 1);
  CHECK(scales.all()[0][0] == 0);
  CHECK(scales.all()[0][1] == doctest::Approx(0.5 / 12));
  CHECK(scales.all()[0][2] == doctest::Approx(0.5 / 12));
  CHECK(scales.all()[0][3] == doctest::Approx(0.5 / 48));
  CHECK(scales.all()[0][4] == doctest::Approx(0.5 / 3));
  CHECK(scales.all()[0][5] == doctest::Approx(0.5 / 3));
}

TEST_CASE("reconstruction_loss: masked-out masks and classes of the truth do not count") {
  const Spec spec = hints_of({{"m", Stage::kHint, Location::kNode, Type::kMask},
                              {"c", Stage::kHint, Location::kNode, Type::kCategorical, 3}});
  Batch batch = test::random_batch(spec, 2, {3});
  batch.values[1] = {-1, 1, -1, -1, 0, 0};  // frames 0, 1, 2
  batch.values[2] = {0, 1, 0, 0, -1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
  const auto counted = [&](const MaskOptions& masks, const HintFeedback& feedback) {
    const ReconstructionScales scales = scales_of(batch, masks, 1, feedback);
    return std::pair{1 / double{scales.all()[0][1]}, 1 / double{scales.all()[0][2]}};
  };
  const auto near = [](std::pair<double, double> got, double mask, double classes) {
    CHECK(got.first == doctest::Approx(mask));
    CHECK(got.second == doctest::Approx(classes));
  };
  // Step 0 reads the truth: 1 mask, 1 row. Step 1 reads a prediction, all of which counts.
  near(counted({}, {}), 1 + 2, 1 + 2);
  // The authors count a soft prediction's rows never, a hard one's always.
  near(counted({.masking = Masking::kAuthors}, {}), 1 + 2, 1);
  near(counted({.masking = Masking::kAuthors}, {.soft = false}), 1 + 2, 1 + 2);
  // With the teacher step 1 reads frame 1: no mask, both rows.
  near(counted({}, {.teacher_forcing = 1}), 1, 1 + 2);
}

TEST_CASE("reconstruction_loss: paper masking divides by the hidden pairs of the round") {
  const Spec spec = hints_of({{"s", Stage::kHint, Location::kNode, Type::kScalar},
                              {"o", Stage::kHint, Location::kNode, Type::kMaskOne},
                              {"e", Stage::kHint, Location::kEdge, Type::kScalar}});
  const Batch batch = test::random_batch(spec, 6, {4, 2});
  const MaskOptions options{.ratio = 0.3};
  const HintMasks masks(spec, 6, options);
  const ReconstructionScales scales = scales_of(batch, options, 1, {.seed = 5});
  REQUIRE(scales.all().size() == 3);
  for (std::size_t j = 0; j < 3; ++j) {
    double pairs[2] = {0, 0};
    const std::pair<int, int> read[] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}};  // sample, step
    for (const auto& [sample, step] : read) {
      std::vector<std::uint8_t> hidden(static_cast<std::size_t>(3 * masks.parts()));
      masks.draw(5, {}, 0, sample, step, hidden.data());
      for (std::size_t v = 0; v < 12; ++v) pairs[v / 6] += hidden[j * 12 + v];
    }
    CHECK(scales.all()[j][1] == doctest::Approx(1 / pairs[0]));
    CHECK(scales.all()[j][2] == doctest::Approx(6 / pairs[1]));
    CHECK(scales.all()[j][3] == 0);
  }
}

TEST_CASE("reconstruction_loss: rows of classes by hand") {
  const Probe probe{"c", Stage::kHint, Location::kNode, Type::kCategorical, 2};
  test::FreshTape fresh;
  const Tensor logits = test::constant(fresh.tape, {2, 2, 2}, {0, 0, 1, 1, 2, 2, 3, 3});
  const Tensor fed_in = test::constant(fresh.tape, {2, 2, 2}, {1, 0, 0, 0, 0.5, 0.5, 0.25, 0.75});
  const auto loss = [&](Recovered r) {
    r.logits = logits, r.fed_in = fed_in;
    double sum = 0;
    add_reconstruction_loss(fresh.tape, probe, r, test::sent(fresh.tape, 1), sum);
    return sum / std::log(2.0);  // each row that counts has the loss log 2 times its mass
  };
  CHECK(loss({.first_step = true}) == doctest::Approx(1));
  CHECK(loss({}) == doctest::Approx(3));
  const std::uint8_t forced[] = {1, 0};
  CHECK(loss({.forced = forced}) == doctest::Approx(1 + 2));
  CHECK(loss({.forced = forced, .masking = Masking::kAuthors}) == doctest::Approx(1));
  CHECK(loss({.masking = Masking::kAuthors, .soft = false}) == doctest::Approx(3));
}

}  // namespace
}  // namespace renar::nn_reconstruction_loss_test
