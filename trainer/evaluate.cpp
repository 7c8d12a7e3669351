#include "trainer/evaluate.h"

#include <algorithm>

#include "trainer/batch.h"

namespace renar {

std::optional<Evaluation> evaluate(const Net& net, ShardRunner& runner, const Spec& spec,
                                   const std::function<const Batch*()>& next,
                                   const std::function<bool()>& go_on) {
  const std::vector<std::size_t> outputs = scored_outputs(spec);
  std::vector<ScoreCount> counts(outputs.size());
  std::vector<TrivialCounts> trivial(outputs.size());
  Predictions predictions;
  Evaluation result;
  while (const Batch* batch = next()) {
    if (!go_on()) return std::nullopt;
    runner.predict(net, *batch, predictions);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      count_score(*batch, outputs[i], predictions, counts[i]);
      count_trivial(*batch, outputs[i], trivial[i]);
    }
    result.samples += batch->size;
    result.nodes = batch->nodes;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Probe& probe = spec[outputs[i]];
    const double score = score_of(probe, counts[i]), constant = trivial_score(probe, trivial[i]);
    result.outputs.push_back({probe.name, score, constant});
    result.score += score;
    result.trivial += constant;
  }
  result.score /= static_cast<double>(outputs.size());
  result.trivial /= static_cast<double>(outputs.size());
  return result;
}

EvaluationSet::EvaluationSet(const Spec& spec, const TraceBatch& traces, int batch_size, int task)
    : spec_(spec), samples_(traces.samples), nodes_(traces.nodes) {
  for (int begin = 0; begin < traces.samples; begin += batch_size) {
    const int end = std::min(begin + batch_size, traces.samples);
    batches_.push_back(batch_of_range(spec, traces, begin, end));
    batches_.back().task = task;
  }
}

std::optional<Evaluation> EvaluationSet::score(const Net& net, ShardRunner& runner,
                                               const std::function<bool()>& go_on) const {
  std::size_t done = 0;
  const auto next = [&] { return done < batches_.size() ? &batches_[done++] : nullptr; };
  return evaluate(net, runner, spec_, next, go_on);
}

}  // namespace renar
