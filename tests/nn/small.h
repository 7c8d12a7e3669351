// Small nets and batches for the tests of nn and trainer.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "algos/dataset.h"
#include "core/check.h"
#include "nn/net.h"
#include "nn/shard_runner.h"
#include "trainer/batch.h"

namespace renar::test {

inline const std::vector<double> kAnyGraph = {0.2, 0.5, 0.9}, kNoEdges = {0.0};

/// Random graphs whose edge probabilities are drawn from `p`.
inline Batch small_batch(const std::string& algo, int nodes, int samples,
                         const std::vector<double>& p = kAnyGraph, std::uint32_t seed = 1) {
  const Algorithm& algorithm = find_algorithm(algo);
  Batch batch;
  fill_batch(algorithm.spec(), make_dataset(algorithm, nodes, samples, seed, {.p = p}), batch);
  return batch;
}

/// One sample of a batch alone, padded no further than it is long.
inline Batch sample_of(const Batch& batch, std::int64_t sample) {
  Batch one;
  one.spec = batch.spec;
  one.size = 1;
  one.nodes = batch.nodes;
  one.lengths = {batch.lengths[static_cast<std::size_t>(sample)]};
  one.frames = one.lengths[0];
  for (std::size_t p = 0; p < batch.spec->size(); ++p) {
    const bool hint = (*batch.spec)[p].stage == Stage::kHint;
    std::vector<Real> values;
    for (std::int64_t t = 0; t < (hint ? one.frames : 1); ++t) {
      const Real* from = batch.at(p, t, sample);
      values.insert(values.end(), from, from + batch.stride(p));
    }
    one.values.push_back(values);
  }
  one.cut();
  return one;
}

inline NetOptions small_options(const std::string& kind = "triplet_gmpnn", int hidden = 8) {
  NetOptions options;
  options.processor = {.kind = kind, .hidden = hidden, .triplet_fts = 4};
  return options;
}

inline Net small_net(const std::string& algo, const NetOptions& options = small_options()) {
  return Net(algo, find_algorithm(algo).spec(), options);
}

/// Sets one parameter by name; `zero` sets all to 0.
inline void set(Parameters& parameters, const std::string& name, const std::vector<Real>& values) {
  const Param param = parameters.find(name).param;
  RENAR_CHECK(static_cast<std::int64_t>(values.size()) == param.shape.size(), "{} has the shape {}",
              name, param.shape.text());
  std::copy(values.begin(), values.end(), parameters.at(param));
}
inline void zero(Parameters& parameters) {
  std::fill_n(parameters.values(), parameters.size(), Real{0});
}

/// A poisoned tape that predicts with `parameters`.
inline Tape tape_on(const Parameters& parameters) {
  Tape tape;
  tape.poison(true);
  tape.start(Tape::Mode::kPredict, parameters.values(), nullptr);
  return tape;
}

inline Tensor constant(Tape& tape, Shape shape, const std::vector<Real>& values) {
  const Tensor x = tape.constant(shape);
  RENAR_CHECK(static_cast<std::int64_t>(values.size()) == shape.size(), "{} numbers for {}",
              values.size(), shape.text());
  std::copy(values.begin(), values.end(), x.data);
  return x;
}

/// What a net makes of a batch.
struct Run {
  Losses losses{};
  std::vector<Real> grads;
  Predictions trained{.with_hints = true, .values = {}},
      evaluated{.with_hints = true, .values = {}};
};

inline Run run(const Net& net, const Batch& batch, int threads = 1) {
  Run result;
  ShardRunner runner(threads);
  result.trained.prepare(batch);
  result.losses = runner.gradients(net, batch, result.grads, &result.trained);
  runner.predict(net, batch, result.evaluated);
  return result;
}

}  // namespace renar::test
