// Whole files in, whole files out.
//
// A file is never seen half written: the bytes go to a temporary name in the same directory, are
// forced to the disk (fsync), and take the real name in one step (rename). If anything fails, a
// full disk included, the temporary file is removed and the file that was there before is
// untouched. A line is appended whole or not at all, whatever other processes append meanwhile.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/check.h"

namespace renar {

/// What f() gives; an Error that does not name the file gets its name.
template <class F>
auto naming_file(const std::string& path, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find(path) != std::string_view::npos) throw;
    throw Error(path + ": " + error.what());
  }
}

/// The bytes of a regular file. Throws renar::Error with the path and the system's reason.
std::string read_file(const std::string& path);

/// Replaces or makes the file, where `path` is a link the one that it leads to. Throws renar::Error
/// with the path and the system's reason, and for what is no regular file (the name /dev/null would
/// be taken from the device) or is another name of an open one (/dev/stdout).
void write_file_atomically(const std::string& path, std::string_view bytes);

/// Throws what write_file_atomically would before it has written a byte: an hour's work should not
/// end at a file that cannot be made. One is made beside it, and removed.
void check_replaceable(const std::string& path);

/// Removes those of the files that are there; the disk knows before this returns. Throws
/// renar::Error with the path and the system's reason.
void remove_files(std::span<const std::string> paths);

/// The name of the file that a process was writing when it was killed, if `name` is that of its
/// temporary file (last.safetensors.tmp-123-4); else empty.
std::string half_written_of(std::string_view name);

/// Appends `line` and its end to a file, which is made if need be with the folders above it, and
/// forces both to the disk. A last line that was cut off is ended first, so that the two do not
/// merge. Throws renar::Error with the path and the system's reason; the file is as before then.
void append_line(const std::string& path, std::string_view line);

/// Makes an empty file for append_line, or sees that the one that is there may be appended to.
/// Throws renar::Error as append_line would.
void make_appendable(const std::string& path);

/// Thrown where a directory is another process's.
class DirectoryInUse : public Error {
 public:
  using Error::Error;
};

/// A directory that this process alone writes to, as long as the lock lives.
class DirectoryLock {
 public:
  /// Throws DirectoryInUse where another process holds it, renar::Error where the directory cannot
  /// be opened. A file system that knows no locks gives one that keeps nobody out.
  explicit DirectoryLock(const std::string& path);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;

 private:
  int fd_;
};

}  // namespace renar
