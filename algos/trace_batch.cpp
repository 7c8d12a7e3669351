#include "algos/trace_batch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/memory.h"

namespace renar {
namespace {

/// A batch of samples of these lengths: append(p, t, b, values) appends frame t of probe p of
/// sample b; what follows a sample's last frame is zero. Written in one pass: batches can be large.
template <class Append>
TraceBatch assembled(const Spec& spec, int nodes, std::vector<int> lengths, const Append& append) {
  RENAR_CHECK(!lengths.empty(), "[trace_batch] a batch of {} nodes needs a sample", nodes);
  TraceBatch batch;
  batch.spec = spec;
  batch.samples = static_cast<int>(lengths.size());
  batch.nodes = nodes;
  batch.frames = *std::max_element(lengths.begin(), lengths.end());
  batch.lengths = std::move(lengths);
  for (std::size_t p = 0; p < spec.size(); ++p) {
    const bool is_hint = spec[p].stage == Stage::kHint;
    const int frames = is_hint ? batch.frames : 1;
    const std::size_t count = count_of(spec[p], nodes);
    std::vector<double>& values = batch.values.emplace_back();
    values.reserve(as_size(frames) * as_size(batch.samples) * count);
    wish_huge_pages(values.data(), values.capacity() * sizeof(double));
    for (int t = 0; t < frames; ++t) {
      for (int b = 0; b < batch.samples; ++b) {
        if (is_hint && t >= batch.lengths[as_size(b)]) {
          values.resize(values.size() + count);
        } else {
          append(p, t, b, values);
        }
      }
    }
  }
  return batch;
}

/// The frames of a probe that a sample really has.
int frames_of(const TraceBatch& batch, std::size_t probe, int sample) {
  return batch.spec[probe].stage == Stage::kHint ? batch.lengths[as_size(sample)] : 1;
}

/// Where a sample's frame of a probe starts in values[probe].
std::size_t offset(const TraceBatch& batch, std::size_t probe, int frame, int sample) {
  return (as_size(frame) * as_size(batch.samples) + as_size(sample)) *
         count_of(batch.spec[probe], batch.nodes);
}

std::string key_of(const Probe& probe, const std::string& prefix) {
  return prefix + std::string(name_of(probe.stage)) + "/" + probe.name;
}

/// Lengths as files hold them, as float64.
std::vector<int> lengths_from(const StoredArray& array, const std::string& name) {
  RENAR_CHECK(array.shape.size() == 1 && array.shape[0] > 0, "[trace_batch] {} has the shape {}",
              name, text_of(array.shape));
  std::vector<int> lengths;
  for (const double length : array.doubles()) {
    RENAR_CHECK(length >= 1 && length <= 1e9 && length == std::floor(length),
                "[trace_batch] {} holds {}, which is no number of frames", name, length);
    lengths.push_back(static_cast<int>(length));
  }
  return lengths;
}

/// The number of nodes, as the first probe of nodes or edges shows it.
int nodes_from(const Spec& spec, const Npz& arrays, const std::string& prefix) {
  for (const Probe& probe : spec) {
    if (probe.location == Location::kGraph) continue;
    const std::string key = key_of(probe, prefix);
    const std::vector<std::size_t>& shape = array_of(arrays, key).shape;
    const std::size_t axis = probe.stage == Stage::kHint ? 2 : 1;
    RENAR_CHECK(shape.size() > axis && shape[axis] >= 1 && shape[axis] <= 1'000'000,
                "[trace_batch] {} has the shape {}: no number of nodes", key, text_of(shape));
    return static_cast<int>(shape[axis]);
  }
  throw Error(message_of("[trace_batch] none of {} probes has nodes", spec.size()));
}

}  // namespace

std::vector<std::size_t> TraceBatch::shape(std::size_t probe) const {
  std::vector<std::size_t> shape = shape_of(spec[probe], nodes);
  shape.insert(shape.begin(), as_size(samples));
  if (spec[probe].stage == Stage::kHint) shape.insert(shape.begin(), as_size(frames));
  return shape;
}

TraceBatch batch_of(std::span<const Trace> traces) {
  RENAR_CHECK(!traces.empty(), "[trace_batch] {} traces make no batch", traces.size());
  const Trace& first = traces.front();
  std::vector<int> lengths;
  for (const Trace& trace : traces) {
    RENAR_CHECK(trace.complete(), "[trace_batch] trace {} is not complete", lengths.size());
    RENAR_CHECK(trace.spec() == first.spec() && trace.nodes() == first.nodes(),
                "[trace_batch] trace {} has {} nodes, the first {}: one spec and size a batch",
                lengths.size(), trace.nodes(), first.nodes());
    lengths.push_back(trace.frames());
  }
  const auto append = [&](std::size_t p, int t, int b, std::vector<double>& values) {
    traces[as_size(b)].append_frame(p, t, values);
  };
  return assembled(first.spec(), first.nodes(), std::move(lengths), append);
}

TraceBatch gather(const TraceBatch& batch, std::span<const int> indices) {
  std::vector<int> lengths;
  for (const int index : indices) {
    RENAR_CHECK(index >= 0 && index < batch.samples, "[trace_batch] sample {} of {}", index,
                batch.samples);
    lengths.push_back(batch.lengths[as_size(index)]);
  }
  const auto append = [&](std::size_t p, int t, int b, std::vector<double>& values) {
    const double* from = &batch.values[p][offset(batch, p, t, indices[as_size(b)])];
    values.insert(values.end(), from, from + count_of(batch.spec[p], batch.nodes));
  };
  return assembled(batch.spec, batch.nodes, std::move(lengths), append);
}

Npz arrays_of(TraceBatch batch, const std::string& prefix) {
  Npz arrays;
  for (std::size_t p = 0; p < batch.spec.size(); ++p) {
    arrays[key_of(batch.spec[p], prefix)] = StoredArray::of(batch.shape(p), batch.values[p]);
    batch.values[p] = std::vector<double>();
  }
  arrays[prefix + "lengths"] = StoredArray::of(
      {as_size(batch.samples)}, std::vector<double>(batch.lengths.begin(), batch.lengths.end()));
  return arrays;
}

TraceBatch batch_from(const Spec& spec, const Npz& arrays, const std::string& prefix) {
  TraceBatch batch;
  batch.spec = spec;
  batch.lengths = lengths_from(array_of(arrays, prefix + "lengths"), prefix + "lengths");
  batch.samples = static_cast<int>(batch.lengths.size());
  batch.nodes = nodes_from(spec, arrays, prefix);
  batch.frames = *std::max_element(batch.lengths.begin(), batch.lengths.end());
  for (std::size_t p = 0; p < spec.size(); ++p) {
    const std::string key = key_of(spec[p], prefix);
    const StoredArray& array = array_of(arrays, key);
    std::vector<std::size_t> expected = batch.shape(p), found = array.shape;
    const bool is_hint = spec[p].stage == Stage::kHint;
    if (is_hint && !found.empty()) found[0] = std::min(found[0], expected[0]);  // less padding
    RENAR_CHECK(found == expected, "[trace_batch] {} has the shape {}, expected {}", key,
                text_of(array.shape), text_of(expected));
    batch.values.push_back(array.doubles());
    const std::size_t count = count_of(spec[p], batch.nodes);
    if (is_hint) batch.values[p].resize(as_size(batch.frames) * as_size(batch.samples) * count);
    for (int b = 0; b < batch.samples; ++b) {
      for (int t = 0; t < frames_of(batch, p, b); ++t) {
        check_value(spec[p], batch.nodes,
                    std::span(batch.values[p]).subspan(offset(batch, p, t, b), count));
      }
    }
  }
  return batch;
}

}  // namespace renar
