// numpy's .npz files: a zip archive with one .npy array an entry.
//
// A .npy entry is "\x93NUMPY", a version, the length of a header, the header (a Python dictionary:
// descr, fortran_order, shape; NEP 1) and the bytes. Read are float64, float32, int64, int32,
// uint32, uint8 and bool, little endian, in C order. An archive may come from anywhere: sizes are
// believed only as far as the file can hold them, and anything malformed is a renar::Error.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/stored_array.h"

namespace renar {

/// The arrays by name, without the ".npy" of their entry.
using Npz = std::map<std::string, StoredArray, std::less<>>;

/// An archive that unpacks to more than this is refused.
inline constexpr std::size_t kMaxNpzBytes = std::size_t{4} << 30;

/// Reads a file. Throws renar::Error naming the path and what is wrong with it.
Npz read_npz(const std::string& path, std::size_t max_bytes = kMaxNpzBytes);

/// Reads an archive in memory; `where` names it in errors.
Npz decode_npz(std::string_view archive, const std::string& where,
               std::size_t max_bytes = kMaxNpzBytes);

/// Writes a compressed archive of at least one array, the same bytes each time, in one step (see
/// write_file_atomically). Throws renar::Error with the path and the reason.
void write_npz(const std::string& path, const Npz& arrays);

/// The array of that name. Throws renar::Error if there is none.
const StoredArray& array_of(const Npz& arrays, std::string_view name);

}  // namespace renar
