// The learned numbers of a model: named tensors in one flat buffer.
//
// A module keeps a Param (where its numbers stand), never the numbers. One buffer means that a
// gradient, a moment of Adam or a shard's own sum is again one buffer of the same layout, added,
// clipped and saved in one pass.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace renar {

/// A place in the flat buffer.
struct Param {
  std::int64_t offset = 0;
  Shape shape;
};

/// The parameters that one step reads and moves where a model has more: [0, shared), which every
/// step has, and [begin, end). A gradient of the step holds the two side by side.
struct ActiveParameters {
  std::int64_t shared = 0, begin = 0, end = 0;

  std::int64_t size() const { return shared + end - begin; }
  /// Where the gradient of the parameter at `offset` stands.
  std::int64_t place(std::int64_t offset) const {
    return offset < shared ? offset : offset - begin + shared;
  }
};

class Parameters {
 public:
  struct Entry {
    std::string name;
    Param param;
  };

  /// Appends a tensor of zeros. Throws renar::Error where the name is taken.
  Param add(const std::string& name, Shape shape);
  /// The entry of that name; throws renar::Error naming the nearest one.
  const Entry& find(const std::string& name) const;

  const std::vector<Entry>& entries() const { return entries_; }
  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  ActiveParameters all() const { return {size(), size(), size()}; }
  Real* values() { return values_.data(); }
  const Real* values() const { return values_.data(); }
  Real* at(const Param& param) { return values_.data() + param.offset; }
  const Real* at(const Param& param) const { return values_.data() + param.offset; }

 private:
  std::vector<Entry> entries_;
  std::vector<Real> values_;
};

}  // namespace renar
