// A tensor: a handle on contiguous row-major numbers and, where something is learned, on their
// gradient.
//
// There are no strides, no broadcasting and no type promotion: an op says its shapes. The handle
// owns nothing; the memory is an Arena's (core/arena.h) or a parameter buffer's (core/parameters.h)
// and outlives it. Copying a handle copies no numbers, so closures capture tensors by value.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

namespace renar {

/// The one number type of the engine. A second build with double serves gradient checks and parity.
#ifdef RENAR_REAL64
using Real = double;
#else
using Real = float;
#endif

/// What a maximum of nothing is.
constexpr Real kMinusInfinity = -std::numeric_limits<Real>::infinity();

/// Up to five extents, outermost first. Throws renar::Error for more.
struct Shape {
  static constexpr int kMaxRank = 5;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);

  std::int64_t operator[](int axis) const { return extent[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const;
  bool operator==(const Shape& other) const = default;
  /// "(32,16,128)"
  std::string text() const;

  int rank = 0;
  std::array<std::int64_t, kMaxRank> extent{};
};

struct Tensor {
  Real* data = nullptr;
  Real* grad = nullptr;  ///< same shape; null where no gradient is wanted
  Shape shape;

  bool has_grad() const { return grad != nullptr; }
  explicit operator bool() const { return data != nullptr; }
  std::int64_t dim(int axis) const { return shape[axis]; }
  std::int64_t size() const { return shape.size(); }
  /// The last extent, and how many rows of it there are.
  std::int64_t cols() const { return shape[shape.rank - 1]; }
  std::int64_t rows() const { return size() / cols(); }

  /// Entries [begin, end) of the first axis: a view that shares numbers and gradient. Throws
  /// renar::Error where there are not so many.
  Tensor slice(std::int64_t begin, std::int64_t end) const;
  Tensor first(std::int64_t count) const { return slice(0, count); }
  /// The same numbers under another shape; throws renar::Error unless it has as many.
  Tensor reshaped(Shape other) const;
};

}  // namespace renar
