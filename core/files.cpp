#include "core/files.h"

#include <fcntl.h>
#include <sys/file.h>
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

constexpr std::string_view kTemporary = ".tmp-";  // then the process and its file

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

/// Writes all of it; false where the system refuses.
bool write_all(const File& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void write_and_sync(const std::string& path, std::string_view bytes) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  RENAR_CHECK(file.is_open(), "[files] cannot create {}: {}", path, reason());
  RENAR_CHECK(write_all(file, bytes), "[files] cannot write {}: {}", path, reason());
  RENAR_CHECK(::fsync(file.fd()) == 0, "[files] cannot write {} to the disk: {}", path, reason());
}

/// Makes the rename itself survive a power cut. Some file systems refuse it; the new file is in
/// place all the same, so that is no error.
void sync_directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const File directory(parent.empty() ? "." : parent.string(), O_RDONLY | O_DIRECTORY);
  if (directory.is_open()) ::fsync(directory.fd());
}

/// What a path leads to, be it there or not; the path itself where that is no link.
std::string end_of_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as the system follows
  std::filesystem::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(at, error); ++i) {
    const auto folder = std::filesystem::weakly_canonical(at.parent_path(), error);
    RENAR_CHECK(!folder.string().starts_with("/proc/"),
                "[files] {} is another name of an open file", path);
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
  }
  return at.string();
}

/// Where a file of that name is to be written. Throws where it must not be.
std::string replaceable(const std::string& name) {
  const std::string path = end_of_links(name);
  std::error_code none;
  const auto there = std::filesystem::status(path, none);
  RENAR_CHECK(!std::filesystem::exists(there) || std::filesystem::is_regular_file(there),
              "[files] {} is there and is no regular file", name);
  return path;
}

std::string temporary_of(const std::string& path) {
  static std::atomic<unsigned> serial{0};
  return path + std::string(kTemporary) + std::to_string(::getpid()) + "-" +
         std::to_string(serial++);
}

constexpr int kAppend = O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK;

/// The file is a regular one and open for appending; gives its size.
off_t check_appendable(const File& file, const std::string& path) {
  RENAR_CHECK(file.is_open(), "[files] cannot open {} to append: {}", path, reason());
  struct stat info = {};
  RENAR_CHECK(::fstat(file.fd(), &info) == 0, "[files] cannot read {}: {}", path, reason());
  RENAR_CHECK(S_ISREG(info.st_mode), "[files] {} is not a regular file", path);
  return info.st_size;
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

void write_file_atomically(const std::string& name, std::string_view bytes) {
  const std::string path = replaceable(name), temporary = temporary_of(path);
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

void check_replaceable(const std::string& path) {
  const std::string temporary = temporary_of(replaceable(path));
  write_and_sync(temporary, "");
  ::unlink(temporary.c_str());
}

void remove_files(std::span<const std::string> paths) {
  for (const std::string& path : paths) {
    const bool gone = ::unlink(path.c_str()) == 0 || errno == ENOENT;
    RENAR_CHECK(gone, "[files] cannot remove {}: {}", path, reason());
    sync_directory_of(path);
  }
}

std::string half_written_of(std::string_view name) {
  const std::size_t at = name.rfind(kTemporary);
  if (at == std::string_view::npos) return "";
  const std::string_view numbers = name.substr(at + kTemporary.size());
  const bool ours = numbers.find_first_not_of("0123456789-") == std::string_view::npos;
  return ours ? std::string(name.substr(0, at)) : "";
}

void make_appendable(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  RENAR_CHECK(!error, "[files] cannot make {}: {}", parent.string(), error.message());
  check_appendable(File(path, kAppend), path);
}

void append_line(const std::string& path, std::string_view line) {
  make_appendable(path);
  const File file(path, kAppend);
  // The lock ends with the file. It covers what one write() cannot: the look at the last byte, and
  // taking back a line that the disk had no room for.
  while (::flock(file.fd(), LOCK_EX) != 0) {
    RENAR_CHECK(errno == EINTR, "[files] cannot lock {}: {}", path, reason());
  }
  const off_t size = check_appendable(file, path);
  char last = '\n';
  const bool looked = size == 0 || ::pread(file.fd(), &last, 1, size - 1) == 1;
  RENAR_CHECK(looked, "[files] cannot read {}: {}", path, reason());
  std::string bytes = last == '\n' ? "" : "\n";
  bytes.append(line).push_back('\n');
  if (!write_all(file, bytes) || ::fsync(file.fd()) != 0) {
    const std::string why = reason();
    const bool undone = ::ftruncate(file.fd(), size) == 0;
    throw Error(message_of("[files] cannot append to {}: {}{}", path, why,
                           undone ? "" : "; its last line is cut off"));
  }
  sync_directory_of(path);
}

DirectoryLock::DirectoryLock(const std::string& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  RENAR_CHECK(fd_ >= 0, "[files] cannot open {}: {}", path, reason());
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  ::close(fd_);
  throw DirectoryInUse(message_of("[files] another program is at work in {}", path));
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace renar
