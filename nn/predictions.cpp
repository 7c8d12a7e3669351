#include "nn/predictions.h"

namespace renar {

std::int64_t logits_per_sample(const Batch& batch, std::size_t probe) {
  return batch.stride(probe) * (is_index((*batch.spec)[probe]) ? batch.nodes : 1);
}

void Predictions::prepare(const Batch& batch) {
  values.resize(batch.spec->size());
  for (std::size_t p = 0; p < values.size(); ++p) {
    std::int64_t rows = 0;
    switch ((*batch.spec)[p].stage) {
      case Stage::kInput: break;
      case Stage::kOutput: rows = batch.size; break;
      case Stage::kHint: rows = with_hints ? steps_of(batch.frames) * batch.size : 0; break;
    }
    values[p].assign(static_cast<std::size_t>(rows * logits_per_sample(batch, p)), Real{0});
  }
}

const Real* Predictions::at(const Batch& batch, std::size_t probe, std::int64_t step,
                            std::int64_t sample) const {
  const bool hint = (*batch.spec)[probe].stage == Stage::kHint;
  const std::int64_t row = hint ? step * batch.size + sample : sample;
  return values[probe].data() + row * logits_per_sample(batch, probe);
}

Real* Predictions::at(const Batch& batch, std::size_t probe, std::int64_t step,
                      std::int64_t sample) {
  return const_cast<Real*>(static_cast<const Predictions*>(this)->at(batch, probe, step, sample));
}

}  // namespace renar
