// One array as it lies in a file: a type of element, a shape, and the bytes, row-major and little
// endian. core/npz and core/safetensors read and write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace renar {

enum class StoredType { kFloat64, kFloat32, kInt64, kInt32, kUInt32, kUInt8, kBool };

/// Bytes of one element.
std::size_t bytes_of(StoredType type);

/// "float64" and so on, for messages.
std::string_view name_of(StoredType type);

/// Bytes of an array. Throws renar::Error, opening with `where`, if the number does not fit: shapes
/// come from files, and files lie.
std::size_t bytes_of(StoredType type, std::span<const std::size_t> shape, std::string_view where);

/// "(3, 4)", for messages.
std::string text_of(std::span<const std::size_t> shape);

struct StoredArray {
  StoredType type = StoredType::kFloat64;
  std::vector<std::size_t> shape;  // empty: a single number
  std::string bytes;               // bytes_of(type, shape) of them

  /// An array of T = double, float, int64, int32, uint32 or uint8. Throws if the count is not the
  /// shape's.
  template <class T>
  static StoredArray of(std::vector<std::size_t> shape, const std::vector<T>& values);

  std::size_t count() const { return bytes.size() / bytes_of(type); }

  /// All elements, converted from whatever type is stored.
  std::vector<double> doubles() const;
  std::vector<float> floats() const;

  /// All elements of an array that holds just this type. Throws renar::Error if it holds another.
  template <class T>
  std::vector<T> exactly() const;
};

}  // namespace renar
