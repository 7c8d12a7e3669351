// reconstruction losses: those of hard truths where the truth is hard, weights by hand, gradients
// of both sides.
#include "kernels/reconstruction_loss.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "kernels/cross_entropy.h"
#include "kernels/mask_cross_entropy.h"
#include "kernels/squared_error.h"
#include "tests/support.h"
#include "tests/support_device.h"

namespace renar::kernels_reconstruction_loss_test {
namespace {

using test::FreshTape;
using test::Inputs;
using test::Numbers;
using Values = std::vector<Real>;

constexpr Real kScale = 0.3;

/// Value and gradient of `ours` and of the loss of hard truths, which must agree.
template <class Ours, class Hard>
void check_same_as_hard(const Values& truth, const Ours& ours, const Hard& hard) {
  Numbers x = Numbers::random({4, 5}, 3), same = Numbers::random({4, 5}, 3), t({4, 5}, truth);
  FreshTape a, b;
  double sum = 0, hard_sum = 0;
  ours(a.tape, Reconstructed{x.tensor(), t.data(), {}}, sum);
  hard(b.tape, same.tensor(), hard_sum);
  CHECK(sum == doctest::Approx(hard_sum).epsilon(test::kRounding));
  REQUIRE(sum != 0);
  a.tape.backward();
  b.tape.backward();
  test::check_same("dx", x.grad(), same.grad());
}

TEST_CASE("reconstruction_loss: a hard truth of weight 1 costs what it costs elsewhere") {
  Values masks(20), one_hot(20);
  for (int i = 0; i < 20; ++i) masks[static_cast<std::size_t>(i)] = static_cast<Real>(i % 3 - 1);
  const std::vector<std::int32_t> classes = {1, 4, -1, 0};
  for (std::size_t row = 0; row < 4; ++row) {
    if (classes[row] >= 0) one_hot[row * 5 + static_cast<std::size_t>(classes[row])] = 1;
  }
  check_same_as_hard(
      masks,
      [](Tape& t, const Reconstructed& r, double& s) {
        reconstruction_squares(t, r, test::sent(t, 2), s);
      },
      [&](Tape& t, Tensor x, double& s) {
        squared_error(t, x, masks.data(), test::sent(t, 2), s);
      });
  check_same_as_hard(
      masks,
      [](Tape& t, const Reconstructed& r, double& s) {
        reconstruction_binary(t, r, test::sent(t, 2), s);
      },
      [&](Tape& t, Tensor x, double& s) {
        mask_cross_entropy(t, x, masks.data(), test::sent(t, 2), s);
      });
  check_same_as_hard(
      one_hot,
      [](Tape& t, const Reconstructed& r, double& s) {
        reconstruction_cross_entropy(t, r, nullptr, test::sent(t, 2), s);
      },
      [&](Tape& t, Tensor x, double& s) {
        cross_entropy(t, x, classes.data(), test::sent(t, 2), s);
      });
}

TEST_CASE("reconstruction_loss: weights and rows that do not count, by hand") {
  const Real ln3 = std::log(Real{3});
  Numbers x({2, 2}, {ln3, 0, ln3, 0});  // probabilities 3/4 and 1/4
  Numbers t({2, 2}, {0.5, 0.5, 1, 0}), w({2, 2}, {1, 0, 1, 1});
  const Reconstructed r{x.tensor(), t.tensor(), w.data()};
  FreshTape fresh;
  const Real counted[] = {1, 0};
  double sum = 0;
  reconstruction_cross_entropy(fresh.tape, r, counted, test::sent(fresh.tape, 2), sum);
  CHECK(sum == doctest::Approx(2 * 0.5 * std::log(4.0 / 3)).epsilon(1e-6));
  reconstruction_cross_entropy(fresh.tape, r, counted, test::sent(fresh.tape, 1),
                               sum);  // gradients add up: 2 + 1 = 3
  fresh.tape.backward();
  // The weighted truth has mass 1/2: dx = 3 (1/2 p - w t), dt = -3 w log p.
  test::check_same("dx", x.grad(), {3 * (0.375 - 0.5), 3 * 0.125, 0, 0}, 1e-6);
  test::check_same("dt", t.grad(), {3 * std::log(Real{4} / 3), 0, 0, 0}, 1e-6);

  Numbers y({3}, {-1, -2, -4}), s({3}, {1, 0, 0.5}), v({3}, {1, 1, 0});
  FreshTape another;
  sum = 10;
  reconstruction_likelihood(another.tape, {y.tensor(), s.tensor(), v.data()},
                            test::sent(another.tape, 3), sum);
  CHECK(sum == doctest::Approx(13));
  reconstruction_likelihood(another.tape, {y.tensor(), s.tensor(), v.data()},
                            test::sent(another.tape, 1), sum);
  another.tape.backward();
  test::check_same("dy", y.grad(), {-4, 0, 0});
  test::check_same("ds", s.grad(), {4, 8, 0});
}

/// 1 or 0, or -1 too, at random places.
Numbers marks(Shape shape, int lowest) {
  Values all;
  for (const Real x : test::random_values(shape.size(), 7)) {
    all.push_back(x > Real(0.4) ? Real{1} : x > Real(-0.4) ? Real{0} : static_cast<Real>(lowest));
  }
  return {shape, all};
}

using Loss = void (*)(Tape&, const Reconstructed&, const Real*, const LossSum&);
const Loss kLosses[] = {
    reconstruction_squares, reconstruction_binary, reconstruction_likelihood,
    [](Tape& tape, const Reconstructed& r, const Real* scale, const LossSum& sum) {
      reconstruction_cross_entropy(tape, r, nullptr, scale, sum);
    }};

TEST_CASE("reconstruction_loss: the kernels do as the definition") {
  for (const test::Extents& e : test::kExtents) {
    const Shape shape{e.batch, e.nodes, e.hidden};
    const Numbers x = Numbers::random(shape, 1), t = Numbers::random(shape, 2);
    const Numbers weight = marks(shape, 0), hard = marks(shape, -1);
    for (const Loss loss : kLosses) {
      test::same_loss_on_device(
          [&](Tape& tape, const Inputs& in, double& sum) {
            loss(tape, {in[0], in[1], in[2]}, test::sent(tape, kScale),
                 test::open_sum(tape, sum, in[0].size()));
          },
          {.inputs = {x, t}, .constants = {weight}});
      test::same_loss_on_device(
          [&](Tape& tape, const Inputs& in, double& sum) {
            loss(tape, {in[0], in[1], {}}, test::sent(tape, kScale),
                 test::open_sum(tape, sum, in[0].size()));
          },
          {.inputs = {x}, .constants = {hard}});
    }
  }
}

TEST_CASE("reconstruction_loss: samples that are left out are as if they were not there") {
  const Real inf = std::numeric_limits<Real>::infinity();
  const std::uint8_t samples[] = {1, 0};
  for (const Loss loss : kLosses) {
    Numbers x({2, 1, 2}, {1, 2, inf, 4}), t({2, 1, 2}, {Real(0.5), Real(0.25), 1, inf});
    Numbers x_alone({1, 1, 2}, {1, 2}), t_alone({1, 1, 2}, {Real(0.5), Real(0.25)});
    FreshTape both, alone;
    double sum = 0, sum_alone = 0;
    loss(both.tape, {x.tensor(), t.tensor(), {}, samples}, test::sent(both.tape, 2), sum);
    loss(alone.tape, {x_alone.tensor(), t_alone.tensor(), {}}, test::sent(alone.tape, 2),
         sum_alone);
    both.tape.backward();
    alone.tape.backward();
    CHECK(sum == sum_alone);
    CHECK(sum != 0);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(x.grad()[i] == (i < 2 ? x_alone.grad()[i] : 0));
      CHECK(t.grad()[i] == (i < 2 ? t_alone.grad()[i] : 0));
    }
  }
}

TEST_CASE("reconstruction_loss: the kernels leave out samples as the definition does") {
  const std::uint8_t samples[] = {0, 1, 0, 1, 1};
  for (const Shape& shape : {Shape{5, 1}, {5, 3, 4}, {5, 3, 7, 33}}) {
    for (const Loss loss : kLosses) {
      test::same_loss_on_device(
          [&](Tape& tape, const Inputs& in, double& sum) {
            loss(tape, {in[0], in[1], in[2], tape.send(samples, shape[0])},
                 test::sent(tape, kScale), test::open_sum(tape, sum, in[0].size()));
          },
          {.inputs = {Numbers::random(shape, 1), Numbers::random(shape, 2)},
           .constants = {marks(shape, 0)}});
    }
  }
}

TEST_CASE("reconstruction_loss: the kernels count rows, and sum those, as the definition does") {
  const std::uint8_t forced[] = {0, 1, 0};
  for (const Shape& shape : {Shape{1, 1, 2}, {3, 1, 1}, {3, 5, 3}, {2, 20, 33}, {3, 3, 4, 5}}) {
    for (const RowRule& rule : {RowRule{.all_truth = true},
                                {.all_truth = false},
                                {.forced = forced},
                                {.forced = forced, .counts_predicted = false},
                                {.counts_predicted = false}}) {
      const auto rule_of = [&](Tape& tape) {
        RowRule there = rule;
        if (rule.forced != nullptr) there.forced = tape.send(rule.forced, shape[0]);
        return there;
      };
      test::same_on_device(
          [&](Tape& tape, const Inputs& in) {
            const Real* counted = counted_rows(tape, in[0], rule_of(tape));
            return Tensor{const_cast<Real*>(counted), nullptr, {in[0].rows()}};
          },
          {.inputs = {}, .constants = {marks(shape, 0)}, .tolerance = 0});
      test::same_loss_on_device(
          [&](Tape& tape, const Inputs& in, double& sum) {
            const Real* counted = counted_rows(tape, in[2], rule_of(tape));
            const LossSum costs = test::open_sum(tape, sum, in[0].rows());
            reconstruction_cross_entropy(tape, {in[0], in[1], {}}, counted,
                                         test::sent(tape, kScale), costs);
          },
          {.inputs = {Numbers::random(shape, 1), Numbers::random(shape, 2)},
           .constants = {marks(shape, 0)}});
    }
  }
}

TEST_CASE("reconstruction_loss: rows that count, by hand") {
  // Two samples of two rows of two classes.
  Numbers fed_in({2, 2, 2}, {0, 1, Real(0.5), Real(0.5), 0, 0, 1, 0});
  FreshTape fresh;
  const auto check = [&](const RowRule& rule, const Values& want) {
    const Real* got = counted_rows(fresh.tape, fed_in.data(), rule);
    CHECK(Values(got, got + 4) == want);
  };
  const std::uint8_t forced[] = {0, 1};
  check({.all_truth = true}, {1, 0, 0, 1});
  check({}, {1, 1, 1, 1});
  check({.forced = forced}, {1, 1, 0, 1});
  check({.forced = forced, .counts_predicted = false}, {0, 0, 0, 1});
}

TEST_CASE("reconstruction_loss: sizes that differ are refused") {
  Numbers x({2, 2}, {1, 2, 3, 4}), t({2}, {1, 2});
  FreshTape fresh;
  double sum = 0;
  CHECK_THROWS_AS(reconstruction_squares(fresh.tape, {x.tensor(), t.data(), {}},
                                         test::sent(fresh.tape, 1), sum),
                  Error);
}

TEST_CASE("reconstruction_loss: gradients of prediction and truth" *
          doctest::skip(test::kFloatBuild)) {
  Numbers weight = Numbers::random({6, 7}, 9);
  const Tensor w = weight.data();
  for (std::int64_t i = 0; i < w.size(); ++i) w.data[i] = w.data[i] > 0 ? Real{1} : Real{0};
  const Real counted[] = {1, 1, 0, 1, 0, 1};
  const auto check = [&](const auto& loss) {
    test::check_loss_gradient(
        [&](Tape& tape, const Inputs& in, double& sum) {
          loss(tape, Reconstructed{in[0], in[1], w}, sum);
        },
        {Numbers::random({6, 7}, 1), Numbers::random({6, 7}, 2)});
  };
  check([](Tape& t, const Reconstructed& r, double& s) {
    reconstruction_squares(t, r, test::sent(t, kScale), s);
  });
  check([](Tape& t, const Reconstructed& r, double& s) {
    reconstruction_binary(t, r, test::sent(t, kScale), s);
  });
  check([](Tape& t, const Reconstructed& r, double& s) {
    reconstruction_likelihood(t, r, test::sent(t, kScale), s);
  });
  check([&](Tape& t, const Reconstructed& r, double& s) {
    reconstruction_cross_entropy(t, r, counted, test::sent(t, kScale), s);
  });
}

}  // namespace
}  // namespace renar::kernels_reconstruction_loss_test
