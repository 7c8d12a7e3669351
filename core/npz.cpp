#include "core/npz.h"

#include <zip.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/files.h"
#include "core/npy.h"

namespace renar {
namespace {

constexpr std::string_view kSuffix = ".npy";

/// Deflate makes at most 1032 bytes of one (RFC 1951: a match of 258 bytes in two bits).
constexpr std::size_t kLargestExpansion = 1032;

struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using Archive = std::unique_ptr<zip_t, CloseZip>;
using Source = std::unique_ptr<zip_source_t, CloseZip>;

std::string text_of(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

/// Opens the archive in `source`, which lives on beside it.
Archive open_archive(zip_source_t* source, int flags, const std::string& where) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_keep(source);  // zip_discard gives back one count
  Archive archive(zip_open_from_source(source, flags, &error));
  if (!archive) zip_source_free(source);
  RENAR_CHECK(archive != nullptr, "[npz] {} is not a zip archive: {}", where, text_of(error));
  return archive;
}

/// The size that an entry claims to unpack to.
std::size_t claimed_size(const zip_stat_t& entry, const std::string& where) {
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD;
  RENAR_CHECK((entry.valid & kNeeded) == kNeeded, "[npz] {} has an entry without a size", where);
  RENAR_CHECK(entry.comp_method == ZIP_CM_STORE || entry.comp_method == ZIP_CM_DEFLATE,
              "[npz] {}: compression method {} is not stored or deflated", where,
              entry.comp_method);
  return entry.size;
}

std::string unpack(zip_t* archive, zip_uint64_t index, std::size_t size, const std::string& where) {
  const std::unique_ptr<zip_file_t, CloseZip> file(zip_fopen_index(archive, index, 0));
  RENAR_CHECK(file != nullptr, "[npz] {}: {}", where, zip_strerror(archive));
  std::string bytes(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + have, size - have);
    RENAR_CHECK(got > 0, "[npz] {}: unpacking stopped after {} of {} bytes", where, have, size);
    have += static_cast<std::size_t>(got);
  }
  char beyond = 0;  // libzip compares the checksum when it meets the end
  RENAR_CHECK(zip_fread(file.get(), &beyond, 1) == 0, "[npz] {}: wrong checksum or length", where);
  return bytes;
}

void add_entry(zip_t* archive, const std::string& name, const std::string& bytes) {
  zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  RENAR_CHECK(source != nullptr, "[npz] {}: {}", name, zip_strerror(archive));
  const std::string entry = name + std::string(kSuffix);
  const zip_int64_t index = zip_file_add(archive, entry.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) zip_source_free(source);
  RENAR_CHECK(index >= 0, "[npz] cannot add '{}': {}", name, zip_strerror(archive));
  // The fastest level: hints are mostly zeros, which all levels pack alike.
  zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 1);
  constexpr zip_uint16_t kFirstOf1980 = 1 << 5 | 1;  // the same bytes whenever they are written
  zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), 0, kFirstOf1980, 0);
}

std::string bytes_of(zip_source_t* source) {
  zip_stat_t info;
  std::string bytes;
  RENAR_CHECK(zip_source_open(source) == 0 && zip_source_stat(source, &info) == 0,
              "[npz] cannot read back an archive: {}",
              zip_error_strerror(zip_source_error(source)));
  bytes.resize(info.size);
  const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
  zip_source_close(source);
  RENAR_CHECK(got == static_cast<zip_int64_t>(bytes.size()), "[npz] read back {} of {} bytes", got,
              bytes.size());
  return bytes;
}

Source source_of(std::string_view bytes) {
  zip_error_t error;
  zip_error_init(&error);
  Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error));
  RENAR_CHECK(source != nullptr, "[npz] {}", text_of(error));
  return source;
}

}  // namespace

Npz read_npz(const std::string& path, std::size_t max_bytes) {
  return decode_npz(read_file(path), path, max_bytes);
}

Npz decode_npz(std::string_view bytes, const std::string& where, std::size_t max_bytes) {
  RENAR_CHECK(!bytes.empty(), "[npz] {} is empty, not a zip archive", where);
  const Source source = source_of(bytes);
  const Archive archive = open_archive(source.get(), ZIP_RDONLY, where);
  Npz arrays;
  std::size_t total = 0;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(entries); ++i) {
    zip_stat_t entry;
    RENAR_CHECK(zip_stat_index(archive.get(), i, 0, &entry) == 0 && entry.name != nullptr,
                "[npz] {}: entry {} cannot be read", where, i);
    std::string name = entry.name;
    RENAR_CHECK(name.ends_with(kSuffix), "[npz] {}: entry '{}' is not a .npy array", where, name);
    const std::string place = where + ", " + name;
    name.resize(name.size() - kSuffix.size());
    const std::size_t size = claimed_size(entry, place);
    RENAR_CHECK(size <= max_bytes - total && total + size <= bytes.size() * kLargestExpansion,
                "[npz] {} unpacks to more than {} bytes or 1032 times its size", place, max_bytes);
    total += size;
    StoredArray array = decode_npy(unpack(archive.get(), i, size, place), place);
    RENAR_CHECK(arrays.emplace(name, std::move(array)).second, "[npz] {} appears twice", place);
  }
  return arrays;
}

void write_npz(const std::string& path, const Npz& arrays) {
  RENAR_CHECK(!arrays.empty(), "[npz] there are no arrays to write to {}", path);
  const Source source = source_of({});
  Archive archive = open_archive(source.get(), ZIP_CREATE | ZIP_TRUNCATE, path);
  std::vector<std::string> entries;  // libzip reads them at the close, so they must not move
  entries.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    entries.push_back(encode_npy(array));
    add_entry(archive.get(), name, entries.back());
  }
  RENAR_CHECK(zip_close(archive.get()) == 0, "[npz] cannot pack {}: {}", path,
              zip_strerror(archive.get()));
  static_cast<void>(archive.release());  // closed
  write_file_atomically(path, bytes_of(source.get()));
}

const StoredArray& array_of(const Npz& arrays, std::string_view name) {
  const auto found = arrays.find(name);
  RENAR_CHECK(found != arrays.end(), "[npz] there is no array '{}' among {}", name, arrays.size());
  return found->second;
}

}  // namespace renar
