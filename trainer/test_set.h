// Test sets of any size, drawn and scored a few samples at a time: the CLRS-30 test set at n = 64,
// its sampler and seed at other lengths, or with other parameters.
//
// Bytes of a sample grow as T N^2 and its longest T is not known before it is drawn. So samples are
// drawn one by one and scored as a batch as soon as they fill kBatchBytes; no more than one batch
// is in memory. How samples are grouped changes no bit of a score.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "algos/dataset.h"
#include "algos/pipeline.h"
#include "trainer/evaluate.h"

namespace renar {

struct TestSet {
  const Algorithm* algorithm;
  Pipeline pipeline;  ///< what the net was trained with; positions stay even
  int length;         ///< asked of the sampler; the graph may have other nodes
  int samples;
  std::uint32_t seed;
  SamplerParams params;
};

/// The validation or test set of CLRS-30 at any length; `samples` 0: as many as the split has.
TestSet clrs30_set(const Algorithm& algorithm, const Pipeline& pipeline, Split split, int length,
                   int samples);

/// Throws renar::UsageError, which begins with `flag`, if the sampler or the net cannot serve the
/// set's length: its first sample is drawn.
void check_length(const TestSet& set, const Net& net, std::string_view flag);

/// Memory that the samples of one batch may take, predictions included; one sample may take more.
constexpr std::int64_t kBatchBytes = 256 << 20;

/// The samples of a set in order, as batches.
class BatchSource {
 public:
  struct Limits {
    int samples;                       ///< most in a batch
    std::int64_t bytes = kBatchBytes;  ///< most in a batch of several
  };
  /// `spec` is the net's for `task`; it and the set must outlive the source.
  BatchSource(const TestSet& set, const Spec& spec, int task, Limits limits);

  /// The next samples; false where there are no more.
  bool next(Batch& batch);

 private:
  const TestSet& set_;
  const Spec& spec_;
  int task_;
  Limits limits_;
  NumpyRandom random_;
  std::optional<Trace> waiting_;  // drawn and not yet in a batch
  int drawn_ = 0;
};

/// Asked before every batch with the number of samples that are done; where it says no the
/// evaluation is given up.
using GoOn = std::function<bool(int done)>;

/// The net's scores in that task; empty if it was given up. Throws renar::Error for lengths that
/// the sampler cannot serve.
std::optional<Evaluation> evaluate(const PlacedNet& net, int task, const TestSet& set,
                                   ShardRunner& runner, Predictions::Hints hints,
                                   const GoOn& go_on);

}  // namespace renar
