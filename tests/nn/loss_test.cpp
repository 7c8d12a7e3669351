// Loss scales and losses by hand: what counts as valid, and what is done where nothing is.
#include "nn/loss.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support.h"

namespace renar::loss_test {
namespace {

using Values = std::vector<Real>;

const Spec kSpec = {
    {"in", Stage::kInput, Location::kNode, Type::kScalar},
    {"scalar", Stage::kOutput, Location::kNode, Type::kScalar},
    {"mask", Stage::kOutput, Location::kNode, Type::kMask},
    {"mask_one", Stage::kOutput, Location::kNode, Type::kMaskOne},
    {"class", Stage::kOutput, Location::kNode, Type::kCategorical, 3},
    {"pointer", Stage::kOutput, Location::kNode, Type::kPointer},
    {"edge", Stage::kOutput, Location::kEdge, Type::kMask},
    {"mask_h", Stage::kHint, Location::kNode, Type::kMask},
    {"graph_h", Stage::kHint, Location::kGraph, Type::kScalar},
    {"to_h", Stage::kHint, Location::kNode, Type::kPointer},
    {"order", Stage::kOutput, Location::kNode, Type::kPermutationPointer},
    {"edge_to", Stage::kOutput, Location::kEdge, Type::kPointer},
    {"edge_class", Stage::kOutput, Location::kEdge, Type::kCategorical, 2},
    {"graph_to_h", Stage::kHint, Location::kGraph, Type::kPointer},
};

/// Two samples of two nodes: three frames and one.
Batch two_samples() {
  Batch batch;
  batch.spec = &kSpec;
  batch.size = batch.nodes = 2;
  batch.frames = 3;
  batch.lengths = {3, 1};
  batch.values = {{0, 0, 0, 0},
                  {1, 2, 3, 4},
                  {1, -1, 0, -1},
                  {0, 1, -1, -1},
                  {1, 0, 0, -1, -1, -1, 0, 0, 1, 0, 1, 0},
                  {0, 1, 1, 0},
                  {1, 0, 0, -1, 0, 0, 0, 0},
                  // frames of (sample, node); the first and the second sample's are not compared
                  {-1, -1, 0, 0, 1, -1, 0, 0, 0, 1, 0, 0},
                  {9, 9, 2, 9, 4, 9},
                  {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0},
                  {0, 1, 1, 0, 0, 1, 1, 0},
                  {0, 1, 1, 0, 0, 0, 0, 0},
                  // one of four edges marks a class in the first sample, none in the second
                  {0, 1, -1, 0, 0, -1, -1, 0, -1, 0, 0, -1, -1, 0, 0, -1},
                  {0, 0, 1, 0, 0, 0}};
  batch.cut();
  return batch;
}

double loss_of(const char* probe, std::int64_t frame, std::int64_t begin, Shape shape,
               const Values& logits, Real scale) {
  const Batch batch = two_samples();
  test::Numbers x(shape, logits);
  test::FreshTape fresh;
  const std::size_t p = kSpec.index_of(probe);
  LossScales scales{};
  scales[p] = scale;
  Losses losses;
  const Samples samples(batch, {0, 2});
  ShardLosses(fresh.tape, samples, HintMode::kEncodedDecoded, &scales, &losses)
      .add(p, frame, begin, x.tensor());
  x.check_guards();
  CHECK(total(losses) == losses[p]);
  return losses[p];
}

TEST_CASE("loss: scales are one over the number of valid elements of the whole batch") {
  const LossScales scales = loss_scales(two_samples());
  const auto scale = [&](const char* probe) { return scales[kSpec.index_of(probe)]; };
  CHECK(scale("in") == 0);
  CHECK(scale("scalar") == Real{1} / 4);
  CHECK(scale("mask") == Real{1} / 2);   // -1 twice
  CHECK(scale("mask_one") == 1);         // one row marks a node
  CHECK(scale("class") == Real{1} / 3);  // three of four rows mark a class
  CHECK(scale("pointer") == Real{1} / 4);
  CHECK(scale("edge") == Real{1} / 7);
  CHECK(scale("mask_h") == Real{1} / 3);  // frames 1 and 2 of the first sample, less one -1
  CHECK(scale("graph_h") == Real{1} / 2);
  CHECK(scale("to_h") == Real{1} / 4);
  CHECK(scale("order") == Real{1} / 4);  // rows
  CHECK(scale("edge_to") == Real{1} / 8);
  CHECK(scale("edge_class") == 1);
  CHECK(scale("graph_to_h") == Real{1} / 2);
}

TEST_CASE("loss: of parts of trajectories only those that end one have outputs") {
  Batch batch = two_samples();
  const LossScales whole = loss_scales(batch);
  batch.parts = {{.slot = 0, .carried = false, .ends = false},
                 {.slot = 1, .carried = true, .ends = true}};
  batch.cut();
  const LossScales scales = loss_scales(batch);
  for (const char* hint : {"mask_h", "graph_h", "to_h"}) {
    CHECK(scales[kSpec.index_of(hint)] == whole[kSpec.index_of(hint)]);
  }
  CHECK(scales[kSpec.index_of("scalar")] == Real{1} / 2);
  CHECK(scales[kSpec.index_of("order")] == Real{1} / 2);
  batch.parts[1].ends = false;
  CHECK(loss_scales(batch)[kSpec.index_of("scalar")] == 0);
}

TEST_CASE("loss: where nothing is valid the scale is 0 and so is the loss") {
  Batch batch = two_samples();
  batch.lengths = {1, 1};
  for (const char* probe : {"mask", "mask_one", "edge_class"}) {
    Values& truth = batch.values[kSpec.index_of(probe)];
    truth.assign(truth.size(), -1);
  }
  const LossScales scales = loss_scales(batch);
  for (const char* probe : {"mask", "mask_one", "edge_class", "mask_h", "graph_h", "graph_to_h"}) {
    CHECK(scales[kSpec.index_of(probe)] == 0);
  }
  CHECK(loss_of("mask_one", 0, 1, {1, 2}, {3, 5}, 0) == 0);
}

TEST_CASE("loss: by hand") {
  const auto is = [](double want) { return doctest::Approx(want).epsilon(1e-6); };
  CHECK(loss_of("scalar", 0, 0, {2, 2}, {1, 4, 0, 4}, Real(0.5)) == is((4 + 9) * 0.5));
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  CHECK(loss_of("mask", 0, 0, {2, 2}, {2, 7, 3, 7}, 1) == is(softplus(-2) + softplus(3)));
  CHECK(loss_of("mask_one", 0, 0, {2, 2}, {1, 3, 8, 9}, 1) == is(softplus(-2)));
  CHECK(loss_of("pointer", 0, 0, {2, 2, 2}, {1, 1, 0, 2, 0, 0, 3, 0}, 1) ==
        is(std::log(2) + softplus(-2) + std::log(2) + softplus(-3)));
  // class: rows 0, 2, 3 have the classes 0, 2, 1
  CHECK(loss_of("class", 0, 0, {2, 2, 3}, {0, 0, 0, 5, 5, 5, 0, 0, 0, 0, 0, 0}, 1) ==
        is(3 * std::log(3)));
}

TEST_CASE("loss: permutations, edges and graph pointers by hand") {
  const auto is = [](double want) { return doctest::Approx(want).epsilon(1e-6); };
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  // The logits of a permutation are logarithms already.
  CHECK(loss_of("order", 0, 0, {2, 2, 2}, {-9, -1, -2, -9, -9, -3, -4, -9}, Real(0.5)) ==
        is((1 + 2 + 3 + 4) * 0.5));
  CHECK(loss_of("order", 0, 1, {1, 2, 2}, {-9, -3, -4, -9}, 1) == is(3 + 4));
  CHECK(loss_of("edge_to", 0, 0, {1, 2, 2, 2}, {2, 0, 2, 0, 0, 0, 0, 1}, 1) ==
        is(softplus(-2) + softplus(2) + std::log(2) + softplus(1)));
  CHECK(loss_of("edge_class", 0, 0, {2, 2, 2, 2}, {0, 3, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1},
                1) == is(softplus(-3)));
  CHECK(loss_of("graph_to_h", 1, 0, {1, 2}, {0, 4}, 1) == is(softplus(-4)));
  CHECK(loss_of("graph_to_h", 2, 0, {1, 2}, {0, 4}, 1) == is(softplus(4)));
}

TEST_CASE("loss: the frame and the first sample are asked for") {
  const auto is = [](double want) { return doctest::Approx(want).epsilon(1e-6); };
  CHECK(loss_of("graph_h", 1, 0, {1}, {0}, 1) == is(4));
  CHECK(loss_of("graph_h", 2, 0, {1}, {0}, 1) == is(16));
  CHECK(loss_of("scalar", 0, 1, {1, 2}, {3, 3}, 1) == is(1));  // the second sample alone
  const double far = std::log1p(std::exp(4.0)), near = std::log1p(std::exp(-4.0));
  CHECK(loss_of("to_h", 1, 0, {1, 2, 2}, {4, 0, 0, 4}, 1) == is(near + far));
  CHECK(loss_of("to_h", 2, 0, {1, 2, 2}, {4, 0, 0, 4}, 1) == is(2 * near));
  CHECK(loss_of("pointer", 0, 1, {1, 2, 2}, {4, 0, 0, 4}, 1) == is(2 * far));
}

}  // namespace
}  // namespace renar::loss_test
