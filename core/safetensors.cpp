#include "core/safetensors.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "core/files.h"
#include "core/json.h"

namespace renar {
namespace {

constexpr std::size_t kLengthBytes = 8, kMaxHeader = std::size_t{1} << 22;
/// file { tensor { shape [ .. ] } }; a file of all algorithms has some 1,400 tensors.
constexpr JsonLimits kHeader{.depth = 3, .keys = 20'000};
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksum = "renar_crc32";
constexpr std::string_view kNoDigits = "00000000";

struct Dtype {
  std::string_view text;
  StoredType type;
};
constexpr Dtype kDtypes[] = {
    {"F64", StoredType::kFloat64}, {"F32", StoredType::kFloat32}, {"I64", StoredType::kInt64},
    {"I32", StoredType::kInt32},   {"U32", StoredType::kUInt32},  {"U8", StoredType::kUInt8},
    {"BOOL", StoredType::kBool},
};

std::string_view dtype_of(StoredType type) {
  return std::find_if(std::begin(kDtypes), std::end(kDtypes),
                      [&](const Dtype& known) { return known.type == type; })
      ->text;
}

StoredType type_of_dtype(std::string_view dtype, const std::string& where) {
  for (const Dtype& known : kDtypes) {
    if (known.text == dtype) return known.type;
  }
  RENAR_CHECK(false, "[safetensors] {}: dtype '{}' is not F64 F32 I64 I32 U32 U8 or BOOL", where,
              dtype);
  return {};
}

Json parse_header(std::string_view text, const std::string& where) {
  Json header;
  try {
    header = parse_json(text, kHeader);
  } catch (const Json::exception& error) {
    throw Error(message_of("[safetensors] {}: malformed header: {}", where, error.what()));
  } catch (const Error& error) {
    throw Error(message_of("[safetensors] {}: malformed header: {}", where, error.what()));
  }
  RENAR_CHECK(header.is_object(), "[safetensors] {}: the header is not a JSON object", where);
  return header;
}

std::size_t size_from(const Json& json, const std::string& where) {
  RENAR_CHECK(json.is_number_unsigned(), "[safetensors] {}: '{}' is not a size", where,
              json.dump(-1, ' ', true, Json::error_handler_t::replace));
  return json.get<std::size_t>();
}

/// A field of a tensor's entry; it must be there and be of that kind.
const Json& field(const Json& entry, const char* name, bool (Json::*is)() const noexcept,
                  const std::string& where) {
  const auto found = entry.is_object() ? entry.find(name) : entry.end();
  RENAR_CHECK(found != entry.end() && ((*found).*is)(), "[safetensors] {}: bad or missing '{}'",
              where, name);
  return *found;
}

struct Place {
  std::size_t begin, end;
  SafetensorsFile::Tensor tensor;
};

Place parse_tensor(const std::string& name, const Json& entry, const std::string& file) {
  const std::string where = file + ", tensor '" + name + "'";
  Place place{0, 0, {name, {}}};
  StoredArray& array = place.tensor.array;
  array.type =
      type_of_dtype(field(entry, "dtype", &Json::is_string, where).get<std::string>(), where);
  for (const Json& extent : field(entry, "shape", &Json::is_array, where)) {
    array.shape.push_back(size_from(extent, where));
  }
  const Json& offsets = field(entry, "data_offsets", &Json::is_array, where);
  RENAR_CHECK(offsets.size() == 2 && entry.size() == 3,
              "[safetensors] {} must have dtype, shape and two data_offsets only", where);
  place.begin = size_from(offsets[0], where);
  place.end = size_from(offsets[1], where);
  const std::size_t bytes = bytes_of(array.type, array.shape, "[safetensors] " + where + ":");
  RENAR_CHECK(place.begin <= place.end && place.end - place.begin == bytes,
              "[safetensors] {}: offsets [{}, {}) do not hold {} bytes", where, place.begin,
              place.end, bytes);
  return place;
}

std::map<std::string, std::string> parse_metadata(const Json& json, const std::string& where) {
  std::map<std::string, std::string> metadata;
  RENAR_CHECK(json.is_object(), "[safetensors] {}: __metadata__ is not an object", where);
  for (const auto& [key, value] : json.items()) {
    RENAR_CHECK(value.is_string(), "[safetensors] {}: metadata '{}' is not a text", where, key);
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

/// Where in the file the digits of its checksum stand, or npos.
std::size_t digits_at(std::string_view bytes, std::size_t header_end, std::string_view digits) {
  const std::string field = message_of(R"("{}":"{}")", kChecksum, digits);
  const std::size_t at = bytes.substr(0, header_end).find(field);
  return at == bytes.npos ? at : at + field.size() - 1 - digits.size();
}

/// The CRC-32 of all bytes, with zeros for the digits at `at`, in eight hexadecimal digits.
std::string checksum(std::string_view bytes, std::size_t at) {
  uLong crc = crc32_z(0, nullptr, 0);
  for (const std::string_view part :
       {bytes.substr(0, at), kNoDigits, bytes.substr(at + kNoDigits.size())}) {
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  return message_of("{:08x}", crc);
}

/// Takes the checksum out of the metadata; throws where it is there and not that of the bytes.
void check_checksum(SafetensorsFile& file, std::string_view bytes, std::size_t header_end,
                    const std::string& where) {
  const auto found = file.metadata.find(kChecksum);
  if (found == file.metadata.end()) return;
  const std::size_t at = digits_at(bytes, header_end, found->second);
  RENAR_CHECK(found->second.size() == kNoDigits.size() && at != bytes.npos &&
                  checksum(bytes, at) == found->second,
              "[safetensors] {} is damaged, or was changed: its bytes do not have the checksum "
              "that it was written with",
              where);
  file.metadata.erase(found);
}

std::size_t read_length(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

}  // namespace

const StoredArray& SafetensorsFile::tensor(std::string_view name) const {
  for (const Tensor& tensor : tensors) {
    if (tensor.name == name) return tensor.array;
  }
  throw Error(message_of("[safetensors] there is no tensor '{}' among {}", name, tensors.size()));
}

SafetensorsFile read_safetensors(const std::string& path) {
  return decode_safetensors(read_file(path), path);
}

SafetensorsFile decode_safetensors(std::string_view bytes, const std::string& where) {
  RENAR_CHECK(bytes.size() >= kLengthBytes, "[safetensors] {} has {} bytes: not such a file", where,
              bytes.size());
  const std::string_view all = bytes;
  const std::size_t length = read_length(bytes);
  bytes.remove_prefix(kLengthBytes);
  RENAR_CHECK(length <= kMaxHeader && length <= bytes.size(),
              "[safetensors] {} claims a header of {} bytes: truncated, or not such a file", where,
              length);
  const Json header = parse_header(bytes.substr(0, length), where);
  bytes.remove_prefix(length);

  SafetensorsFile file;
  std::vector<Place> places;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      file.metadata = parse_metadata(entry, where);
    } else {
      places.push_back(parse_tensor(name, entry, where));
    }
  }
  // Empty tensors share their place with a neighbour, so the end decides where the begin does not.
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::size_t at = 0;
  for (Place& place : places) {
    RENAR_CHECK(place.begin == at && place.end <= bytes.size(),
                "[safetensors] {}, tensor '{}': bytes {} to {} leave a gap, overlap or lie past {}",
                where, place.tensor.name, place.begin, place.end, bytes.size());
    place.tensor.array.bytes = bytes.substr(place.begin, place.end - place.begin);
    at = place.end;
    file.tensors.push_back(std::move(place.tensor));
  }
  RENAR_CHECK(at == bytes.size(), "[safetensors] {}: {} bytes belong to no tensor", where,
              bytes.size() - at);
  check_checksum(file, all, kLengthBytes + length, where);
  return file;
}

std::string encode_safetensors(const SafetensorsFile& file) {
  Json header = Json::object();
  header[kMetadata] = file.metadata;
  header[kMetadata][kChecksum] = kNoDigits;
  std::size_t at = 0;
  for (const auto& [name, array] : file.tensors) {
    RENAR_CHECK(name != kMetadata && !header.contains(name),
                "[safetensors] the tensor name '{}' is taken", name);
    RENAR_CHECK(array.bytes.size() == bytes_of(array.type, array.shape, "[safetensors]"),
                "[safetensors] tensor '{}' of shape {} has {} bytes", name, text_of(array.shape),
                array.bytes.size());
    const std::size_t end = at + array.bytes.size();
    header[name] = {
        {"dtype", dtype_of(array.type)}, {"shape", array.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception& error) {
    throw Error(message_of("[safetensors] a name or metadata is not UTF-8: {}", error.what()));
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the tensors start aligned
  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes += static_cast<char>(text.size() >> (8 * i) & 255);
  }
  bytes += text;
  for (const SafetensorsFile::Tensor& tensor : file.tensors) bytes += tensor.array.bytes;
  const std::size_t digits = digits_at(bytes, kLengthBytes + text.size(), kNoDigits);
  return bytes.replace(digits, kNoDigits.size(), checksum(bytes, digits));
}

void write_safetensors(const std::string& path, const SafetensorsFile& file) {
  write_file_atomically(path, encode_safetensors(file));
}

}  // namespace renar
