// Whole files in, whole files out.
//
// A file is never seen half written: the bytes go to a temporary name in the same directory, are
// forced to the disk (fsync), and take the real name in one step (rename). If anything fails, a
// full disk included, the temporary file is removed and the file that was there before is
// untouched.
#pragma once

#include <string>
#include <string_view>

namespace renar {

/// The bytes of a regular file. Throws renar::Error with the path and the system's reason.
std::string read_file(const std::string& path);

/// Replaces or makes the file. Throws renar::Error with the path and the system's reason.
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace renar
