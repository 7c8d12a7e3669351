// Several traces of one algorithm and size side by side, hints padded with zeros to the longest:
//
//   inputs and outputs (B,...)   hints (T,B,...)   lengths (B), the true number of frames
//
// with B samples, T frames of the longest and ... the probe's shape_of. In files the arrays are
// named as in the field's data: input/<probe>, hint/<probe>, output/<probe>, lengths.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algos/spec.h"
#include "algos/trace.h"
#include "core/npz.h"

namespace renar {

/// A count or an index that is not negative, as containers take it.
constexpr std::size_t as_size(int count) { return static_cast<std::size_t>(count); }

struct TraceBatch {
  Spec spec;
  int samples = 0;                          // B
  int nodes = 0;                            // N
  int frames = 0;                           // T, the largest of lengths
  std::vector<int> lengths;                 // (B)
  std::vector<std::vector<double>> values;  // one a probe, in the order of the spec

  /// The values of the probe of that name. Throws renar::Error if there is none.
  const std::vector<double>& operator[](std::string_view name) const {
    return values[spec.index_of(name)];
  }

  /// The shape of values[probe]: (B,...) or (T,B,...).
  std::vector<std::size_t> shape(std::size_t probe) const;
};

/// The traces as one batch. Throws renar::Error unless they are complete and of one spec and size.
TraceBatch batch_of(std::span<const Trace> traces);

/// The samples of these indices, in this order, padded to the longest of them. Indices may repeat.
/// Throws renar::Error for one that the batch does not have.
TraceBatch gather(const TraceBatch& batch, std::span<const int> indices);

/// The batch as named float64 arrays, each name after `prefix` (such as "batch0/"). Move a large
/// batch in: it is given up probe by probe.
Npz arrays_of(TraceBatch batch, const std::string& prefix = "");

/// A batch from such arrays; frames beyond the longest sample are dropped. Throws renar::Error
/// naming the array that is missing, has the wrong shape or holds what its probe does not allow.
TraceBatch batch_from(const Spec& spec, const Npz& arrays, const std::string& prefix = "");

}  // namespace renar
