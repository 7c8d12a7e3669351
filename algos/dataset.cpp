#include "algos/dataset.h"

#include <string>
#include <vector>

#include "core/check.h"
#include "core/text.h"

namespace renar {
namespace {

constexpr SplitSettings kTrain{"train", 1000, 16, 1};
constexpr SplitSettings kVal{"val", 32, 16, 2};
constexpr SplitSettings kTest{"test", 32, 64, 3};

}  // namespace

const SplitSettings& clrs30(Split split) {
  switch (split) {
    case Split::kTrain: return kTrain;
    case Split::kVal: return kVal;
    case Split::kTest: return kTest;
  }
  return kTest;
}

Split split_of(std::string_view name) {
  std::vector<std::string> names;
  for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
    if (clrs30(split).name == name) return split;
    names.emplace_back(clrs30(split).name);
  }
  throw UsageError(message_of("unknown split '{}'; the nearest match is '{}', all of them: {}",
                              name, nearest_match(name, names), join(names)));
}

int samples_in(const Algorithm& algorithm, Split split) {
  return clrs30(split).samples * (split == Split::kTrain ? 1 : algorithm.multiplier);
}

TraceBatch sample_batch(const Algorithm& algorithm, NumpyRandom& random, int length, int samples,
                        const SamplerParams& params) {
  RENAR_CHECK(samples >= 1, "[dataset] {} samples of {}, ask for at least one", samples,
              algorithm.name);
  std::vector<Trace> traces;
  for (int i = 0; i < samples; ++i) traces.push_back(algorithm.sample(random, length, params));
  return batch_of(traces);
}

TraceBatch make_dataset(const Algorithm& algorithm, int length, int samples, std::uint32_t seed,
                        const SamplerParams& params) {
  NumpyRandom random(seed);
  return sample_batch(algorithm, random, length, samples, params);
}

TraceBatch make_clrs30(const Algorithm& algorithm, Split split) {
  const SplitSettings& settings = clrs30(split);
  return make_dataset(algorithm, settings.length, samples_in(algorithm, split), settings.seed,
                      algorithm.dataset);
}

}  // namespace renar
