#include "core/stored_array.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/check.h"

namespace renar {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read without swapping bytes");

template <class T>
constexpr StoredType type_of() {
  if constexpr (std::is_same_v<T, double>) return StoredType::kFloat64;
  if constexpr (std::is_same_v<T, float>) return StoredType::kFloat32;
  if constexpr (std::is_same_v<T, std::int64_t>) return StoredType::kInt64;
  if constexpr (std::is_same_v<T, std::int32_t>) return StoredType::kInt32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return StoredType::kUInt32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return StoredType::kUInt8;
}

template <class T>
std::vector<T> copy_as(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class To, class From>
std::vector<To> convert(const std::string& bytes) {
  const std::vector<From> from = copy_as<From>(bytes);
  std::vector<To> to(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(from[i]);
  return to;
}

template <class To>
std::vector<To> convert(const StoredArray& array) {
  switch (array.type) {
    case StoredType::kFloat64: return convert<To, double>(array.bytes);
    case StoredType::kFloat32: return convert<To, float>(array.bytes);
    case StoredType::kInt64: return convert<To, std::int64_t>(array.bytes);
    case StoredType::kInt32: return convert<To, std::int32_t>(array.bytes);
    case StoredType::kUInt32: return convert<To, std::uint32_t>(array.bytes);
    case StoredType::kUInt8:
    case StoredType::kBool: return convert<To, std::uint8_t>(array.bytes);
  }
  return {};
}

}  // namespace

std::size_t bytes_of(StoredType type) {
  switch (type) {
    case StoredType::kFloat64:
    case StoredType::kInt64: return 8;
    case StoredType::kFloat32:
    case StoredType::kInt32:
    case StoredType::kUInt32: return 4;
    case StoredType::kUInt8:
    case StoredType::kBool: return 1;
  }
  return 0;
}

std::string_view name_of(StoredType type) {
  switch (type) {
    case StoredType::kFloat64: return "float64";
    case StoredType::kFloat32: return "float32";
    case StoredType::kInt64: return "int64";
    case StoredType::kInt32: return "int32";
    case StoredType::kUInt32: return "uint32";
    case StoredType::kUInt8: return "uint8";
    case StoredType::kBool: return "bool";
  }
  return "";
}

std::size_t bytes_of(StoredType type, std::span<const std::size_t> shape, std::string_view where) {
  constexpr std::size_t kLargest = std::numeric_limits<std::ptrdiff_t>::max();
  std::size_t bytes = bytes_of(type);
  for (const std::size_t extent : shape) {
    // An empty array may still name absurd extents; they must not overflow either.
    RENAR_CHECK(extent <= kLargest / (bytes == 0 ? 1 : bytes), "{} shape {} is too large to hold",
                where, text_of(shape));
    bytes *= extent;
  }
  return bytes;
}

std::string text_of(std::span<const std::size_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + ")";
}

template <class T>
StoredArray StoredArray::of(std::vector<std::size_t> shape, const std::vector<T>& values) {
  StoredArray array{type_of<T>(), std::move(shape), {}};
  RENAR_CHECK(bytes_of(array.type, array.shape, "[StoredArray]") == values.size() * sizeof(T),
              "[StoredArray] shape {} does not hold {} values", text_of(array.shape),
              values.size());
  if (!values.empty()) {
    array.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  return array;
}

std::vector<double> StoredArray::doubles() const { return convert<double>(*this); }
std::vector<float> StoredArray::floats() const { return convert<float>(*this); }

template <class T>
std::vector<T> StoredArray::exactly() const {
  RENAR_CHECK(type == type_of<T>(), "[StoredArray] holds {}, expected {}", name_of(type),
              name_of(type_of<T>()));
  return copy_as<T>(bytes);
}

#define RENAR_STORED_ARRAY_OF(T)                                                            \
  template StoredArray StoredArray::of<T>(std::vector<std::size_t>, const std::vector<T>&); \
  template std::vector<T> StoredArray::exactly<T>() const
RENAR_STORED_ARRAY_OF(double);
RENAR_STORED_ARRAY_OF(float);
RENAR_STORED_ARRAY_OF(std::int64_t);
RENAR_STORED_ARRAY_OF(std::int32_t);
RENAR_STORED_ARRAY_OF(std::uint32_t);
RENAR_STORED_ARRAY_OF(std::uint8_t);
#undef RENAR_STORED_ARRAY_OF

}  // namespace renar
