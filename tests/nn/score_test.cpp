// Scores by hand, masks without positives, nothing to score, and sets of several batches.
#include "nn/score.h"

#include <doctest/doctest.h>

namespace renar {
namespace {

using Values = std::vector<Real>;

/// One output of `truth` over three nodes, and the logits that were predicted.
struct Subject {
  Subject(Type type, int classes, const Values& truth, const Values& logits)
      : spec({{"y", Stage::kOutput, Location::kNode, type, classes}}) {
    batch.spec = &spec;
    batch.nodes = 3;
    batch.frames = 1;
    batch.size = static_cast<std::int64_t>(truth.size() / count_of(spec[0], 3));
    batch.lengths.assign(static_cast<std::size_t>(batch.size), 1);
    batch.values = {truth};
    batch.cut();
    predictions.values = {logits};
  }
  double score() const { return batch_score(batch, predictions); }

  Spec spec;
  Batch batch;
  Predictions predictions;
};

double score_of_mask(const Values& truth, const Values& logits) {
  return Subject(Type::kMask, 0, truth, logits).score();
}

TEST_CASE("score: a mask's F1 by hand; a logit of 0 is not a positive") {
  // hits 2, false positive 1, false negative 1: precision 2/3, recall 2/3
  CHECK(score_of_mask({1, 1, 1, 0, 0, 0}, {5, 1, -1, 1, -1, 0}) == doctest::Approx(2.0 / 3));
  // hit 1, false negative 2: precision 1, recall 1/3
  CHECK(score_of_mask({1, 1, 1}, {1, 0, -1}) == doctest::Approx(0.5));
  // the element that is masked out counts neither way
  CHECK(score_of_mask({1, -1, -1}, {1, 9, -9}) == 1);
}

TEST_CASE("score: masks without positives") {
  CHECK(score_of_mask({0, 0, 0}, {-1, -1, -1}) == 1);  // precision and recall are 1 where undefined
  CHECK(score_of_mask({0, 0, 0}, {-1, 1, -1}) == 0);   // precision 0
  CHECK(score_of_mask({1, 0, 0}, {-1, -1, -1}) == 0);  // recall 0
  CHECK(score_of_mask({-1, -1, -1}, {1, -1, 1}) == 1);
}

TEST_CASE("score: mask_one and categorical are accuracies over rows that are not masked out") {
  CHECK(Subject(Type::kMaskOne, 0, {0, 1, 0, 1, 0, 0}, {1, 2, 0, 1, 2, 0}).score() == 0.5);
  CHECK(Subject(Type::kMaskOne, 0, {0, 1, 0, -1, -1, -1}, {1, 2, 0, 1, 2, 0}).score() == 1);
  CHECK(Subject(Type::kMaskOne, 0, {-1, -1, -1}, {1, 2, 0}).score() == 1);
  // of equal logits the first is the choice
  CHECK(Subject(Type::kMaskOne, 0, {1, 0, 0}, {4, 4, 4}).score() == 1);
  CHECK(Subject(Type::kCategorical, 2, {1, 0, 0, 1, 1, 0}, {1, 0, 1, 0, 1, 0}).score() ==
        doctest::Approx(2.0 / 3));
}

TEST_CASE("score: pointers are an accuracy, scalars a mean squared error") {
  // a star: all nodes point at node 2, and the second is sent to itself
  const Subject star(Type::kPointer, 0, {2, 2, 2}, {0, 1, 5, 0, 6, 5, -3, -2, -1});
  CHECK(star.score() == doctest::Approx(2.0 / 3));
  CHECK(Subject(Type::kScalar, 0, {1, 2, 3}, {1, 4, 0}).score() == doctest::Approx((4 + 9) / 3.0));
}

TEST_CASE("score: over no elements") {
  const auto empty = [](Type type) {
    return score_of({"y", Stage::kOutput, Location::kNode, type, 0}, {});
  };
  CHECK(empty(Type::kScalar) == 0);
  for (const Type type : {Type::kMask, Type::kMaskOne, Type::kPointer}) CHECK(empty(type) == 1);
}

TEST_CASE("score: batches add up; a mean of F1 would differ") {
  const Subject a(Type::kMask, 0, {1, 1, 1}, {1, 1, 1}), b(Type::kMask, 0, {1, 0, 0}, {-1, 1, 1});
  const Subject both(Type::kMask, 0, {1, 1, 1, 1, 0, 0}, {1, 1, 1, -1, 1, 1});
  ScoreCount count;
  count_score(a.batch, 0, a.predictions, count);
  count_score(b.batch, 0, b.predictions, count);
  CHECK(score_of(a.spec[0], count) == both.score());
  CHECK(both.score() != doctest::Approx((a.score() + b.score()) / 2));
}

TEST_CASE("score: the mean over outputs, inputs and hints apart") {
  static const Spec spec = {{"x", Stage::kInput, Location::kNode, Type::kScalar},
                            {"a", Stage::kOutput, Location::kNode, Type::kPointer},
                            {"h", Stage::kHint, Location::kNode, Type::kMask},
                            {"b", Stage::kOutput, Location::kGraph, Type::kMask}};
  Batch batch;
  batch.spec = &spec;
  batch.size = batch.frames = 1;
  batch.nodes = 2;
  batch.lengths = {1};
  batch.values = {{0, 0}, {0, 1}, {1, 1}, {1}};
  batch.cut();
  Predictions predictions;
  predictions.values = {{}, {1, 0, 1, 0}, {}, {3}};  // half of a, all of b
  CHECK(batch_score(batch, predictions) == 0.75);
}

}  // namespace
}  // namespace renar
