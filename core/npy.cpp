#include "core/npy.h"

#include <cctype>
#include <limits>
#include <utility>

#include "core/check.h"

namespace renar {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxDimensions = 32;  // numpy's own limit for many years

struct Descr {
  std::string_view text;
  StoredType type;
};
constexpr Descr kDescrs[] = {
    {"<f8", StoredType::kFloat64}, {"<f4", StoredType::kFloat32}, {"<i8", StoredType::kInt64},
    {"<i4", StoredType::kInt32},   {"<u4", StoredType::kUInt32},  {"|u1", StoredType::kUInt8},
    {"|b1", StoredType::kBool},
};

StoredType type_of(std::string_view descr, const std::string& where) {
  for (const Descr& known : kDescrs) {
    if (known.text == descr) return known.type;
  }
  RENAR_CHECK(!descr.starts_with('>'), "[npy] {}: '{}' is big endian; save it little endian", where,
              descr);
  RENAR_CHECK(false, "[npy] {}: elements '{}' are not <f8 <f4 <i8 <i4 <u4 |u1 or |b1", where,
              descr);
  return {};
}

std::string_view descr_of(StoredType type) {
  for (const Descr& known : kDescrs) {
    if (known.type == type) return known.text;
  }
  return {};
}

/// Reads the dictionary from left to right.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  /// Takes the sign if it comes next, after spaces.
  bool take(char sign) {
    skip_spaces();
    if (rest_.empty() || rest_.front() != sign) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char sign) {
    RENAR_CHECK(take(sign), "[npy] {}: malformed header, expected '{}' before '{}'", where_,
                std::string(1, sign), rest_.substr(0, 16));
  }

  std::string_view quoted() {
    expect('\'');
    const std::string_view word = rest_.substr(0, rest_.find('\''));
    rest_.remove_prefix(word.size());
    expect('\'');
    return word;
  }

  std::string_view word() {
    skip_spaces();
    std::size_t size = 0;
    while (size < rest_.size() && std::isalpha(static_cast<unsigned char>(rest_[size]))) ++size;
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

  std::size_t number() {
    skip_spaces();
    std::size_t value = 0, digits = 0;
    for (; digits < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[digits]));
         ++digits) {
      const std::size_t digit = static_cast<std::size_t>(rest_[digits] - '0');
      RENAR_CHECK(value <= (std::numeric_limits<std::size_t>::max() - digit) / 10,
                  "[npy] {}: an extent of the shape does not fit 64 bits", where_);
      value = 10 * value + digit;
    }
    RENAR_CHECK(digits > 0, "[npy] {}: malformed shape, expected a number", where_);
    rest_.remove_prefix(digits);
    return value;
  }

  std::vector<std::size_t> shape() {
    std::vector<std::size_t> shape;
    expect('(');
    while (!take(')')) {
      shape.push_back(number());
      RENAR_CHECK(shape.size() <= kMaxDimensions, "[npy] {}: more than {} dimensions", where_,
                  kMaxDimensions);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }

 private:
  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
  const std::string& where_;
};

StoredArray parse_header(std::string_view text, const std::string& where) {
  StoredArray array;
  bool has_descr = false, has_order = false, has_shape = false;
  HeaderReader header(text, where);
  header.expect('{');
  while (!header.take('}')) {
    const std::string_view key = header.quoted();
    header.expect(':');
    if (key == "descr" && !std::exchange(has_descr, true)) {
      array.type = type_of(header.quoted(), where);
    } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
      RENAR_CHECK(header.word() == "False",
                  "[npy] {} is in Fortran order; save it through np.ascontiguousarray", where);
    } else if (key == "shape" && !std::exchange(has_shape, true)) {
      array.shape = header.shape();
    } else {
      RENAR_CHECK(false, "[npy] {}: unexpected or repeated key '{}'", where, key);
    }
    if (!header.take(',')) {
      header.expect('}');
      break;
    }
  }
  RENAR_CHECK(header.at_end() && has_descr && has_order && has_shape,
              "[npy] {}: the header must hold descr, fortran_order and shape", where);
  return array;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

StoredArray decode_npy(std::string file, const std::string& where) {
  const std::string_view bytes = file;
  RENAR_CHECK(bytes.size() >= 10 && bytes.starts_with(kMagic), "[npy] {} is not a .npy array",
              where);
  const int version = bytes[6];
  RENAR_CHECK(version >= 1 && version <= 3, "[npy] {}: unknown version {}", where, version);
  const std::size_t start = version == 1 ? 10 : 12;
  RENAR_CHECK(bytes.size() >= start, "[npy] {} ends inside its header", where);
  const std::size_t header_size = little_endian(bytes.substr(8, start - 8));
  RENAR_CHECK(header_size <= bytes.size() - start, "[npy] {} ends inside its header", where);

  StoredArray array = parse_header(bytes.substr(start, header_size), where);
  const std::size_t size = bytes.size() - start - header_size;
  const std::size_t expected = bytes_of(array.type, array.shape, "[npy] " + where + ":");
  RENAR_CHECK(size == expected, "[npy] {}: shape {} of {} needs {} bytes, has {}", where,
              text_of(array.shape), name_of(array.type), expected, size);
  file.erase(0, start + header_size);
  array.bytes = std::move(file);
  return array;
}

std::string encode_npy(const StoredArray& array) {
  std::string shape;
  for (const std::size_t extent : array.shape) shape += std::to_string(extent) + ", ";
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header = "{'descr': '" + std::string(descr_of(array.type)) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kBefore = 10, kMultiple = 64;
  header.resize((kBefore + header.size()) / kMultiple * kMultiple + kMultiple - kBefore, ' ');
  header.back() = '\n';

  std::string bytes(kMagic);
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return bytes + header + array.bytes;
}

}  // namespace renar
