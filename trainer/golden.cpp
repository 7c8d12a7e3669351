#include "trainer/golden.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/check.h"
#include "kernels/log_sinkhorn.h"
#include "nn/postprocess.h"
#include "nn/shard_runner.h"
#include "trainer/batch.h"
#include "trainer/evaluate.h"
#include "trainer/golden_case.h"
#include "trainer/net_in_training.h"
#include "trainer/reference_names.h"

namespace renar {
namespace {

namespace fs = std::filesystem;

constexpr double kTie = 1e-6;
constexpr double kLearningRate = 1e-3;
constexpr std::uint32_t kNearbyTries = 64;

/// An error that is not a number is an infinite one.
double counted(double error) { return std::isfinite(error) ? error : HUGE_VAL; }

double relative(double ours, double theirs) {
  return counted(std::abs(ours - theirs) / std::max(std::abs(theirs), 1e-30));
}

void compare_losses(const GoldenCase& golden, const Losses& losses, GoldenReport& report) {
  double outputs = 0;
  const auto compare = [&](const std::string& name, double ours) {
    const double theirs = numbers_of(golden, "loss/" + name, 1)[0];
    report.loss = std::max(report.loss, relative(ours, theirs));
  };
  for (std::size_t p = 0; p < golden.spec.size(); ++p) {
    if (golden.spec[p].stage == Stage::kOutput) outputs += losses[p];
    if (golden.spec[p].stage == Stage::kHint) {
      if (predicts_hints(golden.options.hints)) compare("hint/" + golden.spec[p].name, losses[p]);
    }
  }
  compare("output", outputs);
  if (golden.reconstructs) {
    const auto theirs = [&](const std::string& name) {
      return numbers_of(golden, "loss/" + name, 1)[0];
    };
    const double both = theirs("mlm_loss") + theirs("rec_loss");
    report.loss = std::max(report.loss, relative(losses.reconstruction, both));
  }
  compare("total", total(losses));
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

bool in_permutation_decoder(const Spec& spec, const std::string& parameter) {
  return std::any_of(spec.begin(), spec.end(), [&](const Probe& probe) {
    return probe.type == Type::kPermutationPointer &&
           (parameter.starts_with(std::string(kGoldenAlgorithm) + "/decode/" + probe.name + "/") ||
            parameter.starts_with(std::string(kGoldenAlgorithm) + "/reconstruct/" + probe.name +
                                  "/"));
  });
}

struct ParameterErrors {
  double rest = 0, permutations = 0;
  std::string worst;  // of the rest
};

/// Largest difference between `prefix`<reference name> and our numbers, over all parameters.
ParameterErrors compare_parameters(const GoldenCase& golden, const Net& net,
                                   const std::string& prefix, const Real* ours,
                                   double floor_share) {
  const std::vector<std::string> names = reference_names(net.parameters());
  std::vector<std::vector<double>> theirs;
  double floor = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Param& param = net.parameters().entries()[i].param;
    theirs.push_back(numbers_of(golden, prefix + names[i], param.shape.size()));
    floor = std::max(floor, floor_share * largest_magnitude(theirs.back()));
  }
  ParameterErrors errors;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& [name, param] = net.parameters().entries()[i];
    const bool permutes = in_permutation_decoder(golden.spec, name);
    double& error = permutes ? errors.permutations : errors.rest;
    const double scale = std::max(largest_magnitude(theirs[i]), floor);
    for (std::size_t k = 0; k < theirs[i].size(); ++k) {
      const double mine = static_cast<double>(ours[param.offset + static_cast<std::int64_t>(k)]);
      const double e = counted(std::abs(mine - theirs[i][k]) / std::max(scale, 1e-30));
      if (e > error) {
        error = e;
        if (!permutes) errors.worst = name;
      }
    }
  }
  return errors;
}

/// What the errors of a probe's logits are measured by. The diagonal of a permutation pointer,
/// where -1e6 stands, has a scale of its own: it would hide the rest.
class LogitScale {
 public:
  LogitScale(const Probe& probe, std::int64_t nodes, const std::vector<double>& values)
      : permutation_(probe.type == Type::kPermutationPointer), nodes_(nodes) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      double& scale = of(static_cast<std::int64_t>(i));
      scale = std::max(scale, std::abs(values[i]));
    }
  }
  double& of(std::int64_t i) {
    const bool diagonal = permutation_ && i / nodes_ % nodes_ == i % nodes_;
    return diagonal ? diagonal_ : rest_;
  }

 private:
  bool permutation_;
  std::int64_t nodes_;
  double diagonal_ = 1, rest_ = 1;
};

/// Logits against `prefix`{output,hint}/<probe>; a hint only in the steps that its sample has.
void compare_logits(const GoldenCase& golden, const Batch& batch, const Predictions& predictions,
                    const std::string& prefix, Stage stage, GoldenReport& report) {
  for (std::size_t p = 0; p < golden.spec.size(); ++p) {
    const Probe& probe = golden.spec[p];
    if (probe.stage != stage) continue;
    if (stage == Stage::kHint && !predicts_hints(golden.options.hints)) continue;
    const std::string name = prefix + std::string(name_of(stage)) + "/" + probe.name;
    const std::int64_t each = logits_per_sample(batch, p);
    const std::int64_t steps = stage == Stage::kHint ? steps_of(batch.frames) : 1;
    const std::vector<double> theirs = numbers_of(golden, name, steps * batch.size * each);
    LogitScale scale(probe, batch.nodes, theirs);
    for (std::int64_t row = 0; row < steps * batch.size; ++row) {
      const std::int64_t step = row / batch.size, sample = row % batch.size;
      if (step >= steps_of(batch.lengths[static_cast<std::size_t>(sample)])) continue;
      const Real* ours = predictions.at(batch, p, step, sample);
      for (std::int64_t i = 0; i < each; ++i) {
        const double their = theirs.at(static_cast<std::size_t>(row * each + i));
        const double error = counted(std::abs(static_cast<double>(ours[i]) - their) / scale.of(i));
        if (error > report.prediction) {
          report.prediction = error;
          report.worst_prediction = name;
        }
      }
    }
  }
}

/// The logits of an output as scores read them.
std::vector<Real> scored_logits(const Batch& batch, std::size_t p, const Predictions& predictions) {
  std::vector<Real> logits = predictions.values[p];
  if ((*batch.spec)[p].type != Type::kPermutationPointer) return logits;
  for (std::int64_t b = 0; b < batch.size; ++b) {
    Real* rows = logits.data() + b * batch.nodes * batch.nodes;
    log_sinkhorn_of(batch.nodes, kScoreRounds, rows, rows);
  }
  return logits;
}

template <class Number>
bool all_finite(const Number* numbers, std::int64_t count) {
  return std::all_of(numbers, numbers + count, [](Number x) { return std::isfinite(x); });
}

/// The hard outputs of evaluation: where ours differs it must be a tie.
void compare_choices(const GoldenCase& golden, const Batch& batch, const Predictions& predictions,
                     GoldenReport& report) {
  for (std::size_t p = 0; p < golden.spec.size(); ++p) {
    const Probe& probe = golden.spec[p];
    if (probe.stage != Stage::kOutput) continue;
    const std::string name = "eval/output/" + probe.name;
    const std::int64_t range = choices(probe, batch.nodes);
    const std::int64_t rows = batch.size * logits_per_sample(batch, p) / range;
    const std::int64_t width = is_index(probe) ? 1 : range;  // of a row of theirs
    const std::vector<double> theirs = numbers_of(golden, name, rows * width);
    const std::vector<Real> scored = scored_logits(batch, p, predictions);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Real* logits = scored.data() + r * range;
      const double* row = theirs.data() + r * width;
      const double gap = [&] {  // how far our numbers are from their choice
        if (!all_finite(logits, range) || !all_finite(row, width)) return HUGE_VAL;
        if (probe.type == Type::kScalar) return std::abs(static_cast<double>(logits[0]) - *row);
        if (probe.type == Type::kMask) {
          const bool same = (logits[0] > 0) == (*row > 0);
          return same ? 0.0 : std::abs(static_cast<double>(logits[0]));
        }
        const std::int64_t chosen = is_index(probe) ? static_cast<std::int64_t>(*row)
                                                    : std::max_element(row, row + range) - row;
        RENAR_CHECK(chosen >= 0 && chosen < range, "[golden] {} chooses {} of {}", name, chosen,
                    range);
        return static_cast<double>(*std::max_element(logits, logits + range) - logits[chosen]);
      }();
      if (gap <= 0) continue;
      if (gap <= kTie) {
        report.flipped.push_back(name + " row " + std::to_string(r));
      } else if (gap > report.prediction) {
        report.prediction = gap;
        report.worst_prediction = name;
      }
    }
  }
}

void compare_training(const GoldenCase& golden, Net& net, ShardRunner& runner,
                      GoldenReport& report) {
  const std::vector<double> theirs = numbers_of(golden, "train/losses", golden.train_steps);
  NetInTraining training(
      net, runner,
      {kLearningRate, golden.clip, golden.freezes_processor ? net.processor_size() : 0});
  for (int step = 0; step < golden.train_steps; ++step) {
    Batch batch;
    const std::string prefix = step == 0 ? "" : "batch" + std::to_string(step) + "/";
    fill_batch(golden.spec, batch_from(golden.spec, golden.arrays, prefix), batch);
    const double loss = total(training.update(batch, noise_of(golden, batch)));
    report.train_loss =
        std::max(report.train_loss, relative(loss, theirs.at(static_cast<std::size_t>(step))));
  }
  training.fetch();
  report.train_parameter =
      compare_parameters(golden, net, "train/param/", net.parameters().values(), 1).rest;
}

}  // namespace

GoldenTolerance golden_tolerance() {
#ifdef RENAR_REAL64
  return {1e-9, 1e-6, 1e-6, 1e-6, 1e-8, 1e-6};
#else
  return {1e-5, 1e-4,    1e-3, 1e-4,
          1e-4, HUGE_VAL};  // Adam turns rounding into whole steps: parameters are not compared
#endif
}

GoldenReport run_golden(const std::string& path, const std::string& manifest, std::uint32_t moved,
                        Device device) {
  const fs::path file(path);
  const GoldenCase golden = read_golden_case(
      path, manifest.empty() ? (file.parent_path() / "manifest.json").string() : manifest);
  GoldenReport report;
  report.name = file.stem().string();
  report.moved = moved;
  report.train_steps = golden.train_steps;

  Net net(kGoldenAlgorithm, golden.spec, golden.options);
  load_golden_parameters(golden, net, moved);
  Batch batch;
  fill_batch(golden.spec, batch_from(golden.spec, golden.arrays), batch);
  ShardRunner runner(1, device);
  const PlacedNet placed(net, device);
  std::vector<Real> grads;
  Predictions predictions{.hints = Predictions::Hints::kLogits, .values = {}};
  predictions.prepare(batch);
  compare_losses(golden,
                 runner.gradients(placed, batch, grads, noise_of(golden, batch), &predictions),
                 report);
  const ParameterErrors errors = compare_parameters(golden, net, "grad/", grads.data(), 1e-3);
  report.gradient = errors.rest;
  report.permutation_gradient = errors.permutations;
  report.worst_gradient = errors.worst;
  compare_logits(golden, batch, predictions, "pred/", Stage::kOutput, report);
  compare_logits(golden, batch, predictions, "pred/", Stage::kHint, report);

  runner.predict(placed, batch, predictions);
  compare_choices(golden, batch, predictions, report);
  if (!golden.reconstructs) {  // whose files have no hints of evaluation
    compare_logits(golden, batch, predictions, "eval/", Stage::kHint, report);
  }
  ScoreSums scores(golden.spec, Predictions::Hints::kNone);
  scores.add(batch, predictions);
  report.score = counted(std::abs(scores.result().score - numbers_of(golden, "eval/score", 1)[0]));
  if (golden.train_steps > 0) compare_training(golden, net, runner, report);
  return report;
}

bool passes(const GoldenReport& report, const GoldenTolerance& tolerance) {
  const bool score = report.score <= tolerance.prediction || !report.flipped.empty();
  return report.loss <= tolerance.loss && report.gradient <= tolerance.gradient &&
         report.permutation_gradient <= tolerance.permutation_gradient &&
         report.prediction <= tolerance.prediction && score &&
         report.train_loss <= tolerance.train_loss &&
         report.train_parameter <= tolerance.train_parameter;
}

GoldenReport run_golden_nearby(const std::string& path, const std::string& manifest,
                               const GoldenTolerance& tolerance, Device device) {
  GoldenReport report = run_golden(path, manifest, 0, device);
  if (passes(report, tolerance) || sizeof(Real) == sizeof(double)) return report;
  for (std::uint32_t moved = 1; moved <= kNearbyTries; ++moved) {
    const GoldenReport nearby = run_golden(path, manifest, moved, device);
    if (passes(nearby, tolerance)) return nearby;
  }
  return report;
}

std::vector<std::string> golden_cases(const std::string& path) {
  std::error_code error;
  RENAR_CHECK(fs::exists(path, error), "[golden] there is no {}", path);
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> cases;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".npz") cases.push_back(entry.path().string());
  }
  std::sort(cases.begin(), cases.end());
  RENAR_CHECK(!cases.empty(), "[golden] {} holds no .npz", path);
  return cases;
}

}  // namespace renar
