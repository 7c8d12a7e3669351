#include "trainer/test_set.h"

#include <algorithm>

#include "core/check.h"
#include "trainer/batch.h"

namespace renar {
namespace {

/// Enough for every thread to have a few samples of different lengths.
int most_samples(int threads) { return std::max(8, 4 * threads); }

/// Bytes of one sample of so many frames: the trace in double, the batch and the predictions.
std::int64_t bytes_of_sample(const Spec& spec, int nodes, int frames) {
  std::int64_t bytes = 0;
  for (const Probe& probe : spec) {
    const auto numbers = static_cast<std::int64_t>(count_of(probe, nodes));
    const std::int64_t truth = numbers * static_cast<std::int64_t>(sizeof(double) + sizeof(Real));
    const std::int64_t logits = numbers * static_cast<std::int64_t>(sizeof(Real));
    switch (probe.stage) {
      case Stage::kInput: bytes += truth; break;
      case Stage::kOutput: bytes += truth + logits * (is_index(probe) ? nodes : 1); break;
      case Stage::kHint: bytes += frames * (truth + logits); break;
    }
  }
  return bytes;
}

}  // namespace

TestSet clrs30_set(const Algorithm& algorithm, const Pipeline& pipeline, Split split, int length,
                   int samples) {
  return {&algorithm,
          pipeline,
          length,
          samples > 0 ? samples : samples_in(algorithm, split),
          clrs30(split).seed,
          algorithm.dataset};
}

void check_length(const TestSet& set, const Net& net, std::string_view flag) {
  try {
    NumpyRandom random(set.seed);
    net.check_nodes(set.algorithm->sample(random, set.length, set.params).nodes());
  } catch (const Error& problem) {
    throw UsageError(
        message_of("{} {}: {}: {}", flag, set.length, set.algorithm->name, problem.what()));
  }
}

BatchSource::BatchSource(const TestSet& set, const Spec& spec, int task, Limits limits)
    : set_(set), spec_(spec), task_(task), limits_(limits), random_(set.seed) {
  RENAR_CHECK(set.samples >= 1, "[test_set] {} samples of {}, ask for at least one", set.samples,
              set.algorithm->name);
}

bool BatchSource::next(Batch& batch) {
  std::vector<Trace> traces;
  int frames = 0;
  while (static_cast<int>(traces.size()) < limits_.samples && (waiting_ || drawn_ < set_.samples)) {
    if (!waiting_) {
      waiting_ = set_.algorithm->sample(random_, set_.length, set_.params);
      ++drawn_;
    }
    const int longest = std::max(frames, waiting_->frames());
    const std::int64_t bytes = bytes_of_sample(spec_, waiting_->nodes(), longest) *
                               static_cast<std::int64_t>(traces.size() + 1);
    if (!traces.empty() && bytes > limits_.bytes) break;
    frames = longest;
    traces.push_back(std::move(*waiting_));
    waiting_.reset();
  }
  if (traces.empty()) return false;
  TraceBatch samples = batch_of(traces);
  apply_but_positions(set_.pipeline, *set_.algorithm, samples);
  fill_batch(spec_, samples, batch);
  batch.task = task_;
  return true;
}

std::optional<Evaluation> evaluate(const PlacedNet& net, int task, const TestSet& set,
                                   ShardRunner& runner, Predictions::Hints hints,
                                   const GoOn& go_on) {
  const Spec& spec = net.net().spec(task);
  BatchSource source(set, spec, task, {.samples = most_samples(runner.threads())});
  ScoreSums sums(spec, hints);
  Predictions predictions{.hints = hints, .values = {}};
  int done = 0;
  for (Batch batch; go_on(done); done += static_cast<int>(batch.size)) {
    if (!source.next(batch)) return sums.result();
    runner.predict(net, batch, predictions);
    sums.add(batch, predictions);
  }
  return std::nullopt;
}

}  // namespace renar
