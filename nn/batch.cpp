#include "nn/batch.h"

#include <algorithm>
#include <numeric>

#include "kernels/edge_pointer_means.h"

namespace renar {

bool is_index(const Probe& probe) {
  switch (probe.type) {
    case Type::kPointer:
    case Type::kShouldBePermutation: return true;
    case Type::kScalar:
    case Type::kCategorical:
    case Type::kMask:
    case Type::kMaskOne:
    case Type::kPermutationPointer: return false;
  }
  return false;
}

bool is_edge_pointer(const Probe& probe) {
  return is_index(probe) && probe.location == Location::kEdge;
}

bool is_pointer(const Probe& probe) {
  return is_index(probe) || probe.type == Type::kPermutationPointer;
}

std::int64_t choices(const Probe& probe, std::int64_t nodes) {
  switch (probe.type) {
    case Type::kScalar:
    case Type::kMask: return 1;
    case Type::kCategorical: return probe.classes;
    case Type::kMaskOne:
    case Type::kPointer:
    case Type::kShouldBePermutation:
    case Type::kPermutationPointer: return nodes;
  }
  return 1;
}

std::int32_t marked_class(const Real* row, std::int64_t count) {
  const Real* marked = std::find(row, row + count, Real{1});
  return marked == row + count ? -1 : static_cast<std::int32_t>(marked - row);
}

const Real* Batch::at(std::size_t probe, std::int64_t frame, std::int64_t sample) const {
  const std::int64_t row = (*spec)[probe].stage == Stage::kHint ? frame * size + sample : sample;
  return values[probe].data() + row * stride(probe);
}

void Batch::cut() {
  strides.clear();
  for (const Probe& probe : *spec) {
    strides.push_back(static_cast<std::int64_t>(count_of(probe, static_cast<int>(nodes))));
  }
  order.resize(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const int longer = lengths[static_cast<std::size_t>(a)] - lengths[static_cast<std::size_t>(b)];
    if (longer != 0) return longer > 0;
    return ends(a) != ends(b) ? ends(b) : a < b;
  });
  shards.clear();
  const std::int64_t each = nodes * nodes;
  for (std::int64_t begin = 0, end = 0; begin < size; begin = end) {
    std::int64_t rows = 0, work = 0;
    const auto is_short = [&] {
      return work < kShardWork && rows + each <= kMostShardRows &&
             (end - begin + 1) * kLeastShards <= size;
    };
    do {
      const int sample = order[static_cast<std::size_t>(end++)];
      rows += each;
      work += each * steps_of(lengths[static_cast<std::size_t>(sample)]);
    } while (end < size && (rows + each <= kShardRows || is_short()));
    shards.push_back({begin, end});
  }
}

std::int64_t Samples::steps_run(std::int64_t k) const {
  if (!rounded()) return steps_of(length(k));
  const std::int64_t group = (size() + kLengthGroups - 1) / kLengthGroups;
  const std::int64_t steps = steps_of(length(k / group * group)), most = steps_of(length(0));
  if (length(0) == length(size() - 1)) return steps;
  std::int64_t part = 1;
  while (part * kLengthParts < most) part *= 2;
  return (steps + part - 1) / part * part;
}

std::int64_t Samples::active(std::int64_t step) const {
  std::int64_t count = size();
  while (count > 0 && steps_run(count - 1) <= step) --count;
  return count;
}

std::int64_t Samples::compared(std::int64_t step) const {
  if (rounded()) return active(step);
  std::int64_t count = size();
  while (count > 0 && length(count - 1) <= step + 1) --count;
  return count;
}

Lengths lengths_on_device(const Batch& batch) {
  if (!batch.parts.empty()) return Lengths::kOwn;
  const Batch::Shard all{0, batch.size};
  const Samples own(batch, all), rounded(batch, all, Lengths::kRounded);
  std::int64_t padded = 0;
  for (std::int64_t step = 0; step < rounded.steps(); ++step) {
    padded += rounded.active(step) - own.active(step);
  }
  const bool pays = padded * batch.nodes * batch.nodes <= kPaddedRows * rounded.steps();
  return pays ? Lengths::kRounded : Lengths::kOwn;
}

// Of those that stop with this step the unfinished parts come first, of two frames or more; a
// trajectory of one frame, which has a step too, is shorter.
std::int64_t Samples::going_on(std::int64_t step) const {
  const std::int64_t still_active = active(step + 1);
  std::int64_t count = active(step);
  while (count > still_active && batch_.ends(index(count - 1))) --count;
  return count;
}

// Rounded lengths may go on beyond the last frame that there is, where nobody minds what is read.
const Real* Samples::written(std::size_t probe, std::int64_t frame, std::int64_t k) const {
  return batch_.at(probe, std::min(frame, batch_.frames - 1), index(k));
}

Tensor Samples::one_hot(Tape& tape, std::size_t probe, std::int64_t frame) const {
  const std::int64_t n = nodes(), stride = batch_.stride(probe);
  const Tensor x = tape.host_constant({size(), stride, n});
  std::fill_n(x.data, x.size(), Real{0});
  for (std::int64_t k = 0; k < size(); ++k) {
    const Real* target = written(probe, frame, k);
    for (std::int64_t i = 0; i < stride; ++i) {
      x.data[(k * stride + i) * n + static_cast<std::int64_t>(target[i])] = 1;
    }
  }
  return tape.send(x);
}

Tensor Samples::features(Tape& tape, std::size_t probe, std::int64_t frame) const {
  const Probe& p = spec()[probe];
  const std::int64_t n = nodes(), stride = batch_.stride(probe);
  if (is_edge_pointer(p)) {
    const Tensor means = tape.host_constant({size(), n, n, 2});
    for (std::int64_t k = 0; k < size(); ++k) {
      edge_pointer_means_of(n, written(probe, frame, k), means.data + k * 2 * stride);
    }
    return tape.send(means);
  }
  if (is_index(p)) return one_hot(tape, probe, frame);
  const Tensor x = tape.host_constant({size(), stride});
  for (std::int64_t k = 0; k < size(); ++k) {
    std::copy_n(written(probe, frame, k), stride, x.data + k * stride);
  }
  return tape.send(x);
}

}  // namespace renar
