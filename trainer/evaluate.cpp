#include "trainer/evaluate.h"

#include <algorithm>

#include "trainer/batch.h"

namespace renar {

EvaluationSet::EvaluationSet(const Spec& spec, const TraceBatch& traces, int batch_size, int task)
    : spec_(spec), outputs_(scored_outputs(spec)), samples_(traces.samples), nodes_(traces.nodes) {
  std::vector<TrivialCounts> counts(outputs_.size());
  for (int begin = 0; begin < traces.samples; begin += batch_size) {
    const int end = std::min(begin + batch_size, traces.samples);
    batches_.push_back(batch_of_range(spec, traces, begin, end));
    batches_.back().task = task;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      count_trivial(batches_.back(), outputs_[i], counts[i]);
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    trivial_.push_back(trivial_score(spec[outputs_[i]], counts[i]));
  }
}

std::optional<Evaluation> EvaluationSet::score(const Net& net, ShardRunner& runner,
                                               const std::function<bool()>& go_on) const {
  std::vector<ScoreCount> counts(outputs_.size());
  Predictions predictions;
  for (const Batch& batch : batches_) {
    if (!go_on()) return std::nullopt;
    runner.predict(net, batch, predictions);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      count_score(batch, outputs_[i], predictions, counts[i]);
    }
  }
  Evaluation result{0, 0, {}, samples_, nodes_};
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Probe& probe = spec_[outputs_[i]];
    result.outputs.push_back({probe.name, score_of(probe, counts[i]), trivial_[i]});
    result.score += result.outputs.back().score;
    result.trivial += trivial_[i];
  }
  result.score /= static_cast<double>(outputs_.size());
  result.trivial /= static_cast<double>(outputs_.size());
  return result;
}

}  // namespace renar
