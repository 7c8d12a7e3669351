#include "trainer/batch.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"

namespace renar {

void fill_batch(const Spec& spec, const TraceBatch& traces, Batch& batch) {
  RENAR_CHECK(spec == traces.spec, "[batch] the traces are of another algorithm than the net");
  batch.spec = &spec;
  batch.size = traces.samples;
  batch.nodes = traces.nodes;
  batch.frames = traces.frames;
  batch.lengths = traces.lengths;
  batch.parts.clear();
  batch.values.resize(traces.values.size());
  for (std::size_t p = 0; p < traces.values.size(); ++p) {
    batch.values[p].resize(traces.values[p].size());
    std::transform(traces.values[p].begin(), traces.values[p].end(), batch.values[p].begin(),
                   [](double value) { return static_cast<Real>(value); });
  }
  batch.cut();
}

Batch batch_of_range(const Spec& spec, const TraceBatch& traces, int begin, int end) {
  std::vector<int> samples(static_cast<std::size_t>(end - begin));
  std::iota(samples.begin(), samples.end(), begin);
  Batch batch;
  fill_batch(spec, gather(traces, samples), batch);
  return batch;
}

}  // namespace renar
