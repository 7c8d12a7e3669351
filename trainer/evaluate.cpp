#include "trainer/evaluate.h"

#include <algorithm>

#include "trainer/batch.h"

namespace renar {

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
  std::vector<ScoreCount> counts(spec_.size());
  Predictions predictions;
  for (const Batch& batch : batches_) {
    if (!go_on()) return std::nullopt;
    runner.predict(net, batch, predictions);
    for (std::size_t p = 0; p < spec_.size(); ++p) {
      if (spec_[p].stage == Stage::kOutput) count_score(batch, p, predictions, counts[p]);
    }
  }
  Evaluation result{0, {}, samples_, nodes_};
  for (std::size_t p = 0; p < spec_.size(); ++p) {
    if (spec_[p].stage != Stage::kOutput) continue;
    result.outputs.push_back({spec_[p].name, score_of(spec_[p], counts[p])});
    result.score += result.outputs.back().score;
  }
  result.score /= static_cast<double>(result.outputs.size());
  return result;
}

}  // namespace renar
