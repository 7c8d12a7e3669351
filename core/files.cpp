#include "core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "core/check.h"

namespace renar {
namespace {

std::string reason() { return std::generic_category().message(errno); }

/// An open file that closes itself.
class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() {
    if (is_open()) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

 private:
  int fd_;
};

void write_and_sync(const std::string& path, std::string_view bytes) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  RENAR_CHECK(file.is_open(), "[files] cannot create {}: {}", path, reason());
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    RENAR_CHECK(written >= 0, "[files] cannot write {}: {}", path, reason());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  RENAR_CHECK(::fsync(file.fd()) == 0, "[files] cannot write {} to the disk: {}", path, reason());
}

/// Makes the rename itself survive a power cut. Some file systems refuse it; the new file is in
/// place all the same, so that is no error.
void sync_directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const File directory(parent.empty() ? "." : parent.string(), O_RDONLY | O_DIRECTORY);
  if (directory.is_open()) ::fsync(directory.fd());
}

}  // namespace

std::string read_file(const std::string& path) {
  const File file(path, O_RDONLY | O_NONBLOCK);  // a pipe without a writer must not hang us
  RENAR_CHECK(file.is_open(), "[files] cannot open {}: {}", path, reason());
  struct stat info = {};
  RENAR_CHECK(::fstat(file.fd(), &info) == 0, "[files] cannot read {}: {}", path, reason());
  RENAR_CHECK(S_ISREG(info.st_mode), "[files] {} is not a regular file", path);
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.fd(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    RENAR_CHECK(got >= 0, "[files] cannot read {}: {}", path, reason());
    RENAR_CHECK(got > 0, "[files] {} ended after {} of {} bytes", path, have, bytes.size());
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  static std::atomic<unsigned> serial{0};
  const std::string temporary =
      path + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(serial++);
  try {
    write_and_sync(temporary, bytes);
    RENAR_CHECK(std::rename(temporary.c_str(), path.c_str()) == 0,
                "[files] cannot rename {} to {}: {}", temporary, path, reason());
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory_of(path);
}

}  // namespace renar
