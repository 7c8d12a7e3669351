#include "nn/predictions.h"

#include <algorithm>

#include "nn/postprocess.h"

namespace renar {

std::int64_t logits_per_sample(const Batch& batch, std::size_t probe) {
  return batch.stride(probe) * (is_index((*batch.spec)[probe]) ? batch.nodes : 1);
}

bool chooses(const Probe& probe) {
  switch (probe.type) {
    case Type::kScalar:
    case Type::kMask:
    case Type::kPermutationPointer: return false;
    case Type::kCategorical:
    case Type::kMaskOne:
    case Type::kPointer:
    case Type::kShouldBePermutation: return true;
  }
  return false;
}

bool Predictions::as_choices(const Probe& probe) const {
  return probe.stage == Stage::kHint && hints == Hints::kChoices && chooses(probe);
}

std::int64_t Predictions::per_sample(const Batch& batch, std::size_t probe) const {
  const Probe& p = (*batch.spec)[probe];
  const std::int64_t logits = logits_per_sample(batch, probe);
  return as_choices(p) ? logits / choices(p, batch.nodes) : logits;
}

void Predictions::put(const Batch& batch, std::size_t probe, std::int64_t step, std::int64_t sample,
                      const Real* logits) {
  const Probe& p = (*batch.spec)[probe];
  if (!wants(p)) return;
  const std::int64_t count = per_sample(batch, probe);
  Real* row = at(batch, probe, step, sample);
  if (!as_choices(p)) {
    std::copy_n(logits, count, row);
    return;
  }
  const std::int64_t range = choices(p, batch.nodes);
  for (std::int64_t r = 0; r < count; ++r) {
    row[r] = static_cast<Real>(largest(logits + r * range, range));
  }
}

void Predictions::prepare(const Batch& batch) {
  values.resize(batch.spec->size());
  for (std::size_t p = 0; p < values.size(); ++p) {
    std::int64_t rows = 0;
    switch ((*batch.spec)[p].stage) {
      case Stage::kInput: break;
      case Stage::kOutput: rows = batch.size; break;
      case Stage::kHint:
        rows = hints == Hints::kNone ? 0 : steps_of(batch.frames) * batch.size;
        break;
    }
    values[p].assign(static_cast<std::size_t>(rows * per_sample(batch, p)), Real{0});
  }
}

const Real* Predictions::at(const Batch& batch, std::size_t probe, std::int64_t step,
                            std::int64_t sample) const {
  const bool hint = (*batch.spec)[probe].stage == Stage::kHint;
  const std::int64_t row = hint ? step * batch.size + sample : sample;
  return values[probe].data() + row * per_sample(batch, probe);
}

Real* Predictions::at(const Batch& batch, std::size_t probe, std::int64_t step,
                      std::int64_t sample) {
  return const_cast<Real*>(static_cast<const Predictions*>(this)->at(batch, probe, step, sample));
}

}  // namespace renar
