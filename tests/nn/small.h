// Small nets and batches for the tests of nn and trainer.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "algos/dataset.h"
#include "core/check.h"
#include "core/rng.h"
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

/// Every type at every location that it can stand at, as hint and as output.
inline const Spec& every_probe() {
  static const Spec spec = [] {
    std::vector<Probe> probes = {{"pos", Stage::kInput, Location::kNode, Type::kScalar},
                                 {"to", Stage::kInput, Location::kEdge, Type::kPointer},
                                 {"root", Stage::kInput, Location::kGraph, Type::kPointer}};
    for (const Stage stage : {Stage::kHint, Stage::kOutput}) {
      for (const Location location : {Location::kNode, Location::kEdge, Location::kGraph}) {
        for (const Type type : {Type::kScalar, Type::kCategorical, Type::kMask, Type::kMaskOne,
                                Type::kPointer, Type::kShouldBePermutation}) {
          if (type == Type::kMaskOne && location == Location::kGraph) continue;
          if (type == Type::kShouldBePermutation && location != Location::kNode) continue;
          std::string name = std::string(name_of(location)) + "_" + std::string(name_of(type));
          if (stage == Stage::kHint) name += "_h";
          probes.push_back({name, stage, location, type, type == Type::kCategorical ? 3 : 0});
        }
      }
    }
    probes.push_back({"order", Stage::kOutput, Location::kNode, Type::kPermutationPointer});
    probes.push_back({"order_mask", Stage::kOutput, Location::kNode, Type::kMaskOne});
    return Spec(probes);
  }();
  return spec;
}

/// Random numbers as the probe's type has them; some masks and classes are masked out.
inline std::vector<Real> random_truth(const Probe& probe, std::int64_t nodes, CounterRng& rng) {
  std::vector<Real> values(count_of(probe, static_cast<int>(nodes)));
  const auto below = [&](std::int64_t count) {
    return static_cast<std::size_t>(rng.uniform() * static_cast<double>(count));
  };
  const std::size_t n = static_cast<std::size_t>(nodes);
  const std::size_t range = static_cast<std::size_t>(choices(probe, nodes));
  switch (probe.type) {
    case Type::kScalar:
      for (Real& value : values) value = static_cast<Real>(rng.normal());
      break;
    case Type::kMask:
      for (Real& value : values) value = below(4) == 0 ? Real{-1} : static_cast<Real>(below(2));
      break;
    case Type::kCategorical:
    case Type::kMaskOne:
      for (std::size_t row = 0; row < values.size(); row += range) {
        values[row + below(choices(probe, nodes))] = below(4) == 0 ? Real{-1} : Real{1};
      }
      break;
    case Type::kPointer:
    case Type::kShouldBePermutation:
      for (Real& value : values) value = static_cast<Real>(below(nodes));
      break;
    case Type::kPermutationPointer: {
      std::vector<std::size_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = n; i > 1; --i) {
        std::swap(order[i - 1], order[below(static_cast<std::int64_t>(i))]);
      }
      for (std::size_t i = 0; i < n; ++i) values[order[i] * n + order[(i + n - 1) % n]] = 1;
      break;
    }
  }
  return values;
}

/// A batch of such numbers for a spec that no algorithm has; `spec` must outlive it.
inline Batch random_batch(const Spec& spec, int nodes, const std::vector<int>& lengths,
                          std::uint32_t seed = 0) {
  Batch batch;
  batch.spec = &spec;
  batch.size = static_cast<std::int64_t>(lengths.size());
  batch.nodes = nodes;
  batch.lengths = lengths;
  batch.frames = *std::max_element(lengths.begin(), lengths.end());
  CounterRng rng(3, Purpose::kInitialisation, static_cast<std::uint32_t>(nodes), seed);
  for (const Probe& probe : spec) {
    std::vector<Real>& values = batch.values.emplace_back();
    const std::int64_t frames = probe.stage == Stage::kHint ? batch.frames : 1;
    for (std::int64_t k = 0; k < frames * batch.size; ++k) {
      const std::vector<Real> one = random_truth(probe, nodes, rng);
      values.insert(values.end(), one.begin(), one.end());
    }
  }
  batch.cut();
  return batch;
}

inline NetOptions small_options(const std::string& kind = "triplet_gmpnn", int hidden = 8) {
  NetOptions options;
  options.processor = {.kind = kind, .hidden = hidden, .triplet_fts = 4};
  return options;
}

/// The embeddings of a memory network start at zero and stay there (nn/processors/memnet.h).
inline void fill_embeddings(Parameters& parameters) {
  for (const auto& [name, param] : parameters.entries()) {
    if (!name.ends_with("_biases") && !name.ends_with("memory_contents")) continue;
    CounterRng rng(7, Purpose::kInitialisation, 0, static_cast<std::uint32_t>(param.offset));
    std::generate_n(parameters.at(param), param.shape.size(),
                    [&] { return static_cast<Real>(0.05 * rng.normal()); });
  }
}

inline Net small_net(const std::string& algo, const NetOptions& options = small_options()) {
  Net net(algo, find_algorithm(algo).spec(), options);
  fill_embeddings(net.parameters());
  return net;
}

/// dfs and bfs, and a net that learns the two.
inline const std::vector<const Algorithm*>& both() {
  static const std::vector<const Algorithm*> algorithms = {&find_algorithm("dfs"),
                                                           &find_algorithm("bfs")};
  return algorithms;
}

inline Net net_of_both() {
  return Net({{"dfs", both()[0]->spec()}, {"bfs", both()[1]->spec()}}, small_options());
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
struct PredictingTape : Tape {
  explicit PredictingTape(const Parameters& parameters) {
    poison(true);
    start(Mode::kPredict, parameters.values(), nullptr);
  }
};

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
  Predictions trained{.hints = Predictions::Hints::kLogits, .values = {}},
      evaluated{.hints = Predictions::Hints::kLogits, .values = {}};
};

inline Run run(const Net& net, const Batch& batch, int threads = 1) {
  Run result;
  ShardRunner runner(threads);
  result.trained.prepare(batch);
  result.losses = runner.gradients(net, batch, result.grads, {}, &result.trained);
  runner.predict(net, batch, result.evaluated);
  return result;
}

}  // namespace renar::test
