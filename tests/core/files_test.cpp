// Whole files: round trips, and failures that must leave the old file as it was.
#include "core/files.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/check.h"
#include "tests/core/scratch.h"

namespace renar::files_test {
namespace {

/// What `work` throws where write() fails after 4096 bytes of a file: a limit on the size of files
/// stands for the full disk.
template <class Work>
std::string refusal_on_a_full_disk(const Work& work) {
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit small = {4096, old_limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string what;
  try {
    work();
  } catch (const Error& error) {
    what = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  return what;
}

TEST_CASE("files: what is written is read again") {
  const Scratch scratch;
  const std::string path = scratch.path("file"), bytes("\0\1two\nthree", 11);
  write_file_atomically(path, bytes);
  CHECK(read_file(path) == bytes);
  write_file_atomically(path, "");
  CHECK(read_file(path) == "");
  CHECK(scratch.files() == 1);
}

TEST_CASE("files: a device, a pipe or a folder is not replaced") {
  const Scratch scratch;
  const std::string pipe = scratch.path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {pipe, scratch.path("")}) {
    CHECK_THROWS_WITH_AS(write_file_atomically(path, "x"),
                         doctest::Contains("is there and is no regular file"), Error);
  }
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("files: what is written to a link goes where it leads, but not to an open file's name") {
  const Scratch scratch;
  const std::string file = scratch.path("file"), link = scratch.path("link");
  std::filesystem::create_symlink("second", link);
  std::filesystem::create_symlink(file, scratch.path("second"));
  for (const char* bytes : {"made", "replaced"}) {
    check_replaceable(link);
    write_file_atomically(link, bytes);
    CHECK(read_file(file) == bytes);
    CHECK(std::filesystem::is_symlink(link));
  }
  CHECK(scratch.files() == 3);

  const std::string open = scratch.path("open"), folder = scratch.path("fd");
  std::filesystem::create_symlink("/proc/self/fd/1", open);  // as /dev/stdout is
  std::filesystem::create_symlink("/proc/self/fd", folder);  // as /dev/fd is
  for (const std::string& name : {open, folder + "/1"}) {
    CHECK_THROWS_WITH_AS(write_file_atomically(name, "x"), doctest::Contains("another name of"),
                         Error);
    CHECK_THROWS_AS(check_replaceable(name), Error);
    CHECK(std::filesystem::is_symlink(name));
  }
}

TEST_CASE("files: removed files are gone, and what cannot be removed is named") {
  const Scratch scratch;
  const std::vector<std::string> paths = {scratch.path("a"), scratch.path("not there"),
                                          scratch.path("b")};
  write_file_atomically(paths[0], "");
  write_file_atomically(paths[2], "");
  remove_files(paths);
  CHECK(scratch.files() == 0);
  std::filesystem::create_directory(paths[0]);
  CHECK_THROWS_WITH_AS(remove_files(paths), doctest::Contains("cannot remove"), Error);
}

TEST_CASE("files: what a process was writing when it was killed is known by its name") {
  CHECK(half_written_of("last.safetensors.tmp-123-4") == "last.safetensors");
  CHECK(half_written_of("a.tmp-1-0.tmp-2-0") == "a.tmp-1-0");
  for (const char* other : {"last.safetensors", "", "x.tmp-old", "x.tmp-1-0.svg", "tmp-1-0"}) {
    CHECK(half_written_of(other).empty());
  }
}

TEST_CASE("files: an error names the path and the reason") {
  const Scratch scratch;
  CHECK_THROWS_WITH_AS(read_file("/nowhere/file"),
                       "[files] cannot open /nowhere/file: No such file or directory", Error);
  CHECK_THROWS_AS(read_file(scratch.path(".")), Error);
  CHECK_THROWS_AS(read_file("/dev/zero"), Error);
  REQUIRE(mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  CHECK_THROWS_AS(read_file(scratch.path("pipe")), Error);  // and does not wait for a writer
  CHECK_THROWS_AS(write_file_atomically("/nowhere/file", "x"), Error);
  CHECK_THROWS_AS(write_file_atomically(scratch.path("."), "x"), Error);  // rename refuses
  CHECK(scratch.files() == 1);
}

TEST_CASE("files: an error that does not name its file gets the name") {
  const auto fails = [](const char* what) { throw Error(what); };
  CHECK(naming_file("a.json", [] { return 3; }) == 3);
  CHECK_THROWS_WITH_AS(naming_file("a.json", [&] { fails("too deep"); }), "a.json: too deep",
                       Error);
  CHECK_THROWS_WITH_AS(naming_file("a.json", [&] { fails("[x] a.json is bad"); }),
                       "[x] a.json is bad", Error);
}

TEST_CASE("files: a full disk leaves the old file and nothing else") {
  const Scratch scratch;
  const std::string path = scratch.path("file");
  write_file_atomically(path, "the old content");

  const std::string what =
      refusal_on_a_full_disk([&] { write_file_atomically(path, std::string(100'000, 'x')); });
  CHECK(what.find("File too large") != std::string::npos);
  CHECK(read_file(path) == "the old content");
  CHECK(scratch.files() == 1);
}

TEST_CASE("files: lines are appended, after the end of one that was cut off") {
  const Scratch scratch;
  const std::string path = scratch.path("new/folder/lines");
  append_line(path, "one");
  append_line(path, "two");
  CHECK(read_file(path) == "one\ntwo\n");
  make_appendable(path);
  CHECK(read_file(path) == "one\ntwo\n");
  write_file_atomically(path, "one\ntw");
  append_line(path, "three");
  CHECK(read_file(path) == "one\ntw\nthree\n");
}

TEST_CASE("files: what cannot be appended to is named, and a full disk takes no half line") {
  const Scratch scratch;
  CHECK_THROWS_WITH_AS(append_line("/proc/nowhere/file", "x"),
                       "[files] cannot make /proc/nowhere: No such file or directory", Error);
  CHECK_THROWS_AS(append_line(scratch.path("."), "x"), Error);
  CHECK_THROWS_AS(make_appendable("/dev/null"), Error);
  const std::string path = scratch.path("lines");
  append_line(path, "the old line");
  const std::string what =
      refusal_on_a_full_disk([&] { append_line(path, std::string(100'000, 'x')); });
  CHECK(what == "[files] cannot append to " + path + ": File too large");
  CHECK(read_file(path) == "the old line\n");
}

TEST_CASE("files: lines that several processes append at once stay whole") {
  constexpr int kProcesses = 4, kLines = 50;
  const Scratch scratch;
  const std::string path = scratch.path("lines");
  const auto line_of = [](int process) {
    return std::string(3000, static_cast<char>('a' + process));
  };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    children.push_back(fork());
    REQUIRE(children.back() >= 0);
    if (children.back() > 0) continue;
    for (int i = 0; i < kLines; ++i) append_line(path, line_of(process));
    _exit(0);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  std::map<std::string, int> count;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) ++count[line];
  CHECK(count.size() == kProcesses);
  for (int process = 0; process < kProcesses; ++process) CHECK(count[line_of(process)] == kLines);
}

}  // namespace
}  // namespace renar::files_test
