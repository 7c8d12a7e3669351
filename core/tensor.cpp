#include "core/tensor.h"

#include "core/check.h"

namespace renar {

Shape::Shape(std::initializer_list<std::int64_t> extents) {
  RENAR_CHECK(extents.size() <= kMaxRank, "[tensor] {} dimensions, at most {} are supported",
              extents.size(), static_cast<int>(kMaxRank));
  for (std::int64_t value : extents) extent[static_cast<std::size_t>(rank++)] = value;
}

std::int64_t Shape::size() const {
  std::int64_t product = 1;
  for (int axis = 0; axis < rank; ++axis) product *= (*this)[axis];
  return product;
}

std::string Shape::text() const {
  std::string out = "(";
  for (int axis = 0; axis < rank; ++axis) {
    if (axis > 0) out += ',';
    out += std::to_string((*this)[axis]);
  }
  return out + ")";
}

Tensor Tensor::slice(std::int64_t begin, std::int64_t end) const {
  RENAR_CHECK(shape.rank > 0 && 0 <= begin && begin <= end && end <= shape[0],
              "[tensor] slice [{}, {}) of a tensor {}", begin, end, shape.text());
  const std::int64_t stride = shape[0] == 0 ? 0 : size() / shape[0];
  Tensor view = *this;
  view.data = data + begin * stride;
  if (grad != nullptr) view.grad = grad + begin * stride;
  view.shape.extent[0] = end - begin;
  return view;
}

Tensor Tensor::reshaped(Shape other) const {
  RENAR_CHECK(other.size() == size(), "[tensor] {} cannot be reshaped to {}", shape.text(),
              other.text());
  Tensor view = *this;
  view.shape = other;
  return view;
}

}  // namespace renar
