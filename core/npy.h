// One array in numpy's .npy format (NEP 1), as it stands inside a .npz archive:
//
//   "\x93NUMPY" major minor | header length (2 bytes in version 1, 4 after) | header | elements
//
// The header is a Python dictionary, {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
#pragma once

#include <string>
#include <string_view>

#include "core/stored_array.h"

namespace renar {

/// The array in these bytes; `where` names them in errors. Throws renar::Error on anything but a
/// little-endian C-order array of a StoredType whose bytes are all there and no more.
StoredArray decode_npy(std::string bytes, const std::string& where);

/// The bytes of an array, the header padded so that the elements start at a multiple of 64.
std::string encode_npy(const StoredArray& array);

}  // namespace renar
