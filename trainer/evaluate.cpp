#include "trainer/evaluate.h"

#include <algorithm>
#include <numeric>

#include "trainer/batch.h"

namespace renar {

ScoreSums::ScoreSums(const Spec& spec, Predictions::Hints hints) : spec_(spec) {
  for (const std::size_t p : scored_outputs(spec)) outputs_.push_back({p});
  for (std::size_t p = 0; p < spec.size() && hints != Predictions::Hints::kNone; ++p) {
    if (spec[p].stage == Stage::kHint) hints_.push_back({p});
  }
}

void ScoreSums::add(const Batch& batch, const Predictions& predictions) {
  nodes_ = static_cast<int>(batch.nodes);
  if (static_cast<std::int64_t>(running_.size()) + 1 < batch.frames) {
    running_.resize(static_cast<std::size_t>(batch.frames) - 1);
    for (Hint& hint : hints_) hint.along_time.resize(running_.size());
  }
  for (Output& output : outputs_) count_trivial(batch, output.probe, output.trivial);
  for (std::int64_t b = 0; b < batch.size; ++b) {
    ++samples_;
    exact_ += add_outputs(batch, predictions, b);
    if (!hints_.empty()) hints_exact_ += add_hints(batch, predictions, b);
  }
}

/// True where all outputs of the sample are right.
bool ScoreSums::add_outputs(const Batch& batch, const Predictions& predictions,
                            std::int64_t sample) {
  bool all = true;
  for (Output& output : outputs_) {
    ScoreCount count;
    count_sample_score(batch, output.probe, predictions, 0, sample, count);
    const bool right = wrong_choices(spec_[output.probe], count) == 0;
    output.count += count;
    output.exact += right;
    all = all && right;
  }
  return all;
}

/// True where all hints of the sample are right at all its frames.
bool ScoreSums::add_hints(const Batch& batch, const Predictions& predictions, std::int64_t sample) {
  const std::int64_t steps = batch.lengths[static_cast<std::size_t>(sample)] - 1;
  for (std::int64_t t = 0; t < steps; ++t) ++running_[static_cast<std::size_t>(t)];
  bool all = true;
  for (Hint& hint : hints_) {
    double wrong = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      ScoreCount count;
      count_sample_score(batch, hint.probe, predictions, t, sample, count);
      wrong += wrong_choices(spec_[hint.probe], count);
      hint.along_time[static_cast<std::size_t>(t)] += count;
    }
    hint.exact += wrong == 0;
    all = all && wrong == 0;
  }
  return all;
}

double ScoreSums::share(int samples) const {
  return samples_ > 0 ? static_cast<double>(samples) / samples_ : 0;
}

HintScore ScoreSums::hint_score(const Hint& hint) const {
  const Probe& probe = spec_[hint.probe];
  HintScore result{probe.name, probe.type, {}, share(hint.exact), {}};
  double sum = 0;
  for (std::size_t t = 0; t < running_.size(); ++t) {
    result.along_time.push_back(score_of(probe, hint.along_time[t]));
    sum += result.along_time.back() * running_[t];
  }
  const int frames = std::accumulate(running_.begin(), running_.end(), 0);
  if (frames > 0) result.score = sum / frames;
  return result;
}

Evaluation ScoreSums::result() const {
  Evaluation result{0, 0, {}, samples_, nodes_, share(exact_)};
  for (const Output& output : outputs_) {
    const Probe& probe = spec_[output.probe];
    result.outputs.push_back({probe.name, score_of(probe, output.count),
                              trivial_score(probe, output.trivial), share(output.exact)});
    result.score += result.outputs.back().score;
    result.trivial += result.outputs.back().trivial;
  }
  result.score /= static_cast<double>(outputs_.size());
  result.trivial /= static_cast<double>(outputs_.size());
  for (const Hint& hint : hints_) result.hints.push_back(hint_score(hint));
  if (!hints_.empty()) result.running = running_;
  result.hints_exact = share(hints_exact_);
  return result;
}

EvaluationSet::EvaluationSet(const Spec& spec, const TraceBatch& traces, int batch_size, int task)
    : spec_(spec), nodes_(traces.nodes) {
  for (int begin = 0; begin < traces.samples; begin += batch_size) {
    const int end = std::min(begin + batch_size, traces.samples);
    batches_.push_back(batch_of_range(spec, traces, begin, end));
    batches_.back().task = task;
  }
}

Evaluation EvaluationSet::score(const PlacedNet& net, ShardRunner& runner) const {
  ScoreSums sums(spec_, Predictions::Hints::kNone);
  Predictions predictions;
  for (const Batch& batch : batches_) {
    runner.predict(net, batch, predictions);
    sums.add(batch, predictions);
  }
  return sums.result();
}

}  // namespace renar
