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
  Real* values() { return values_.data(); }
  const Real* values() const { return values_.data(); }
  Real* at(const Param& param) { return values_.data() + param.offset; }
  const Real* at(const Param& param) const { return values_.data() + param.offset; }

 private:
  std::vector<Entry> entries_;
  std::vector<Real> values_;
};

}  // namespace renar
