#include "algos/pipeline.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"

namespace renar {
namespace {

Probe pred_input() { return {"pred", Stage::kInput, Location::kNode, Type::kPointer}; }

/// The first frame of a hint (T,B,..) as an input (B,..). Throws renar::Error if it ever changes.
std::vector<double> constant_frame(const TraceBatch& batch, std::size_t probe) {
  const std::vector<double>& frames = batch.values[probe];
  const std::size_t count = count_of(batch.spec[probe], batch.nodes);
  const std::size_t frame = as_size(batch.samples) * count;
  for (int b = 0; b < batch.samples; ++b) {
    const auto first = frames.begin() + static_cast<std::ptrdiff_t>(as_size(b) * count);
    for (int t = 1; t < batch.lengths[as_size(b)]; ++t) {
      RENAR_CHECK(std::equal(first, first + static_cast<std::ptrdiff_t>(count),
                             first + static_cast<std::ptrdiff_t>(as_size(t) * frame)),
                  "[pipeline] {} of sample {} changes in frame {}: it is no input",
                  batch.spec[probe].name, b, t);
    }
  }
  return {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(frame)};
}

struct Permutation {
  std::vector<double> rows;   // (B,N,N)
  std::vector<double> first;  // (B,N)
};

/// Chains of predecessors (B,N), whose first node points to itself, as cyclic permutations. Throws
/// renar::Error if one is no chain of all nodes.
Permutation cyclic(const std::vector<double>& pointers, int samples, int nodes,
                   const std::string& name) {
  const std::size_t n = as_size(nodes);
  Permutation result{std::vector<double>(as_size(samples) * n * n),
                     std::vector<double>(as_size(samples) * n)};
  for (std::size_t b = 0; b < as_size(samples); ++b) {
    const auto before = [&](std::size_t i) {
      return static_cast<std::size_t>(pointers[b * n + i]);
    };
    std::vector<bool> pointed_at(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (before(i) != i) pointed_at[before(i)] = true;
      result.rows[(b * n + i) * n + before(i)] = 1;
    }
    const auto end = std::find(pointed_at.begin(), pointed_at.end(), false);
    const auto last = static_cast<std::size_t>(end - pointed_at.begin());
    std::size_t first = last, length = last < n ? 1 : 0;
    for (; length > 0 && length < n && before(first) != first; ++length) first = before(first);
    RENAR_CHECK(length == n && before(first) == first,
                "[pipeline] {} of sample {} is no order of its {} nodes", name, b, nodes);
    result.rows[(b * n + first) * n + first] = 0;
    result.rows[(b * n + first) * n + last] = 1;
    result.first[b * n + first] = 1;
  }
  return result;
}

}  // namespace

Spec spec_after(const Pipeline& pipeline, const Algorithm& algorithm) {
  std::vector<Probe> probes;
  for (const Probe& probe : algorithm.spec()) {
    const bool is_input =
        pipeline.pred_as_input && algorithm.pred_is_input && probe.name == "pred_h";
    const bool is_permutation = pipeline.permutations && probe.type == Type::kShouldBePermutation;
    probes.push_back(is_input ? pred_input() : probe);
    if (!is_permutation) continue;
    probes.back().type = Type::kPermutationPointer;
    probes.push_back({probe.name + "_mask", probe.stage, Location::kNode, Type::kMaskOne});
  }
  return Spec(std::move(probes));
}

void apply_but_positions(const Pipeline& pipeline, const Algorithm& algorithm, TraceBatch& batch) {
  const Spec& before = algorithm.spec();
  RENAR_CHECK(batch.spec == before, "[pipeline] the batch is not one of {}", algorithm.name);
  const Spec after = spec_after(pipeline, algorithm);
  std::vector<std::vector<double>> values;
  for (std::size_t p = 0; p < before.size(); ++p) {
    const Probe& probe = after[values.size()];
    if (probe.stage != before[p].stage) {
      values.push_back(constant_frame(batch, p));
    } else if (probe.type != before[p].type) {
      RENAR_CHECK(probe.stage != Stage::kHint, "[pipeline] {} is a hint: it cannot become a {}",
                  probe.name, name_of(probe.type));
      Permutation permutation = cyclic(batch.values[p], batch.samples, batch.nodes, probe.name);
      values.push_back(std::move(permutation.rows));
      values.push_back(std::move(permutation.first));
    } else {
      values.push_back(std::move(batch.values[p]));
    }
  }
  batch.spec = after;
  batch.values = std::move(values);
}

void apply(const Pipeline& pipeline, const Algorithm& algorithm, TraceBatch& batch,
           NumpyRandom& positions) {
  if (pipeline.random_positions) randomize_positions(batch, positions);
  apply_but_positions(pipeline, algorithm, batch);
}

void randomize_positions(TraceBatch& batch, NumpyRandom& random) {
  std::vector<double>& pos = batch.values[batch.spec.index_of("pos")];  // (B,N)
  std::vector<double> drawn = random.uniform(0, 1, pos.size());
  const std::size_t n = static_cast<std::size_t>(batch.nodes);
  std::size_t start = 0;
  for (std::size_t i = 1; i <= pos.size(); ++i) {
    const bool segment_ends = i % n == 0 || pos[i] == 0;
    if (!segment_ends) continue;
    std::sort(drawn.begin() + static_cast<std::ptrdiff_t>(start),
              drawn.begin() + static_cast<std::ptrdiff_t>(i));
    start = i;
  }
  pos = std::move(drawn);
}

}  // namespace renar
