// Scores by hand, masks without positives, nothing to score, sets of several batches, and what
// constant predictions score.
#include "nn/score.h"

#include <doctest/doctest.h>

#include "core/check.h"
#include "tests/nn/scores.h"

namespace renar::score_test {
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
  double score() const { return test::batch_score(batch, predictions); }

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

TEST_CASE("score: everything masked out") {
  CHECK(score_of_mask({-1, -1, -1}, {1, 1, 1}) == 1);
  CHECK(Subject(Type::kMaskOne, 0, {-1, 0, 0}, {1, 2, 3}).score() == 1);
  CHECK(Subject(Type::kCategorical, 2, {-1, 0, 0, -1, -1, 0}, {1, 0, 1, 0, 1, 0}).score() == 1);
}

TEST_CASE("score: a single node or class is a choice too") {
  for (const Type type : {Type::kMaskOne, Type::kPointer}) {
    static const Spec one_of[] = {{{"y", Stage::kOutput, Location::kNode, Type::kMaskOne}},
                                  {{"y", Stage::kOutput, Location::kNode, Type::kPointer}}};
    Batch batch;
    batch.spec = &one_of[type == Type::kPointer];
    batch.size = batch.nodes = batch.frames = 1;
    batch.lengths = {1};
    batch.values = {{type == Type::kPointer ? Real{0} : Real{1}}};
    batch.cut();
    Predictions predictions;
    predictions.values = {{Real(-3.5)}};
    CHECK(test::batch_score(batch, predictions) == 1);
  }
}

/// One sample of three nodes in an order that starts at node 1: 1 <- 2 <- 0, and 1 points at 0.
struct Sorted {
  explicit Sorted(const Values& rows, const Values& mask) {
    batch.spec = &spec;
    batch.size = batch.frames = 1;
    batch.nodes = 3;
    batch.lengths = {1};
    batch.values = {{0, 1, 0}, {0, 0, 1, 1, 0, 0, 0, 1, 0}};
    batch.cut();
    predictions.values = {mask, rows};
  }
  double score() const { return test::batch_score(batch, predictions); }

  // The mask stands before its permutation, as in files that are sorted by name it would after.
  const Spec spec = {{"p_mask", Stage::kOutput, Location::kNode, Type::kMaskOne},
                     {"p", Stage::kOutput, Location::kNode, Type::kPermutationPointer}};
  Batch batch;
  Predictions predictions;
};

TEST_CASE("score: a permutation and its mask are one pointer") {
  const Values right = {0, 0, 9, 9, 0, 0, 0, 9, 0}, other_way = {0, 9, 0, 0, 0, 9, 9, 0, 0};
  const Values first = {1, 3, 2}, second = {1, 2, 3};
  CHECK(scored_outputs(Sorted(right, first).spec) == std::vector<std::size_t>{1});
  CHECK(Sorted(right, first).score() == 1);
  // Another first node: its pointer and that of the true first one are wrong, whatever the rows.
  CHECK(Sorted(right, second).score() == doctest::Approx(1.0 / 3));
  // Where the order begins the row does not matter.
  CHECK(Sorted(other_way, first).score() == doctest::Approx(1.0 / 3));
  // The rows alone would send nodes 0 and 2 to node 1; as a permutation 0 goes to 2.
  CHECK(Sorted({0, 1, 0, 0, 0, 0, 0, 9, 0}, first).score() == 1);
}

TEST_CASE("score: a permutation without its mask is refused") {
  static const Spec spec = {{"p", Stage::kOutput, Location::kNode, Type::kPermutationPointer}};
  Sorted sorted({0, 0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0});
  sorted.batch.spec = &spec;
  sorted.batch.values = {sorted.batch.values[1]};
  sorted.batch.cut();
  ScoreCount count;
  CHECK_THROWS_AS(test::count_score(sorted.batch, 0, sorted.predictions, count), Error);
}

TEST_CASE("score: edge and graph outputs") {
  static const Spec spec = {{"e", Stage::kOutput, Location::kEdge, Type::kPointer},
                            {"c", Stage::kOutput, Location::kEdge, Type::kCategorical, 2},
                            {"m", Stage::kOutput, Location::kEdge, Type::kMaskOne},
                            {"g", Stage::kOutput, Location::kGraph, Type::kPointer}};
  Batch batch;
  batch.spec = &spec;
  batch.size = batch.frames = 1;
  batch.nodes = 2;
  batch.lengths = {1};
  batch.values = {{0, 1, 1, 0}, {1, 0, 0, 1, -1, 0, 1, 0}, {1, 0, 0, 1}, {1}};
  batch.cut();
  Predictions predictions;
  predictions.values = {{3, 2, 1, 2, 3, 2, 9, 8},  // 0, 1, 0, 0
                        {3, 2, 3, 2, 3, 2, 3, 2},  // 0, 0, masked, 0
                        {0, 1, 0, 1},
                        {1, 2}};
  const double want[] = {0.75, 2.0 / 3, 0.5, 1};
  for (std::size_t p = 0; p < spec.size(); ++p) {
    ScoreCount count;
    test::count_score(batch, p, predictions, count);
    CHECK(score_of(spec[p], count) == doctest::Approx(want[p]));
  }
}

double trivial_of(const Subject& subject) {
  TrivialCounts counts;
  count_trivial(subject.batch, 0, counts);
  return trivial_score(subject.spec[0], counts);
}

TEST_CASE("trivial score: the best constant prediction") {
  const auto trivial = [](Type type, const Values& truth, int classes = 0) {
    return trivial_of(Subject(type, classes, truth, {}));
  };
  CHECK(trivial(Type::kPointer, {0, 0, 2}) == doctest::Approx(2.0 / 3));  // all to 0
  CHECK(trivial(Type::kPointer, {1, 1, 2, 0, 1, 1}) ==
        doctest::Approx(2.0 / 3));  // all to themselves
  CHECK(trivial(Type::kMaskOne, {0, 0, 1, 1, 0, 0, 0, 0, 1}) == doctest::Approx(2.0 / 3));
  CHECK(trivial(Type::kMaskOne, {0, 1, 0, 1, 0, 0}) == 0.5);
  CHECK(trivial(Type::kMask, {1, 0, 0}) == doctest::Approx(0.5));  // everywhere: precision 1/3
  CHECK(trivial(Type::kMask, {0, -1, 0}) == 1);                    // nowhere
  CHECK(trivial(Type::kScalar, {1, 2, 4}) == doctest::Approx(7));
  CHECK(trivial(Type::kCategorical, {0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1}, 3) ==
        doctest::Approx(2.0 / 3));
}

TEST_CASE("trivial score: batches add up before the best is chosen") {
  const Subject a(Type::kPointer, 0, {0, 0, 1}, {}), b(Type::kPointer, 0, {0, 1, 2, 0, 1, 2}, {});
  TrivialCounts counts;
  count_trivial(a.batch, 0, counts);
  count_trivial(b.batch, 0, counts);
  CHECK(trivial_score(a.spec[0], counts) == doctest::Approx(7.0 / 9));  // 1 + 6 to themselves
}

TEST_CASE("trivial score: edges to either of their nodes, graphs to 0, permutations as pointers") {
  static const Spec spec = {{"i", Stage::kOutput, Location::kEdge, Type::kPointer},
                            {"j", Stage::kOutput, Location::kEdge, Type::kPointer},
                            {"0", Stage::kOutput, Location::kEdge, Type::kPointer},
                            {"g", Stage::kOutput, Location::kGraph, Type::kPointer}};
  Batch batch;
  batch.spec = &spec;
  batch.size = batch.frames = 1;
  batch.nodes = 3;
  batch.lengths = {1};
  batch.values = {
      {0, 0, 0, 1, 1, 1, 2, 2, 1}, {0, 1, 2, 0, 1, 2, 0, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 1}, {1}};
  batch.cut();
  for (std::size_t p = 0; p < spec.size(); ++p) {
    TrivialCounts counts;
    count_trivial(batch, p, counts);
    CHECK(trivial_score(spec[p], counts) == (p == 3 ? 0 : doctest::Approx(8.0 / 9)));
  }
  // The order 1, 2, 0 as pointers: 2, 1, 1. One is itself, none is 0.
  const Sorted sorted({}, {});
  TrivialCounts counts;
  count_trivial(sorted.batch, 1, counts);
  CHECK(trivial_score(sorted.spec[1], counts) == doctest::Approx(1.0 / 3));
}

TEST_CASE("score: wrong choices") {
  const auto wrong = [](Type type, const Values& truth, const Values& logits, int classes = 0) {
    const Subject subject(type, classes, truth, logits);
    ScoreCount count;
    test::count_score(subject.batch, 0, subject.predictions, count);
    return wrong_choices(subject.spec[0], count);
  };
  CHECK(wrong(Type::kPointer, {2, 2, 2}, {0, 1, 5, 0, 6, 5, -3, -2, -1}) == 1);
  CHECK(wrong(Type::kMask, {1, 0, 1}, {-1, 1, 1}) == 2);  // one missed, one too many
  CHECK(wrong(Type::kMask, {1, -1, -1}, {1, 9, -9}) == 0);
  CHECK(wrong(Type::kMaskOne, {0, 1, 0, -1, 0, 0}, {1, 0, 0, 1, 0, 0}) == 1);
  CHECK(wrong(Type::kCategorical, {1, 0, 0, 1, 1, 0}, {0, 1, 0, 1, 0, 1}, 2) == 2);
  CHECK(wrong(Type::kScalar, {1, 2, 3}, {4, 5, 6}) == 0);
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
  test::count_score(a.batch, 0, a.predictions, count);
  test::count_score(b.batch, 0, b.predictions, count);
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
  CHECK(test::batch_score(batch, predictions) == 0.75);
}

}  // namespace
}  // namespace renar::score_test
