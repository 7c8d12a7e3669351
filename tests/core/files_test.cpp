// Whole files: round trips, and failures that must leave the old file as it was.
#include "core/files.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <string>

#include "core/check.h"
#include "tests/core/scratch.h"

using namespace renar;

TEST_CASE("files: what is written is read again") {
  const Scratch scratch;
  const std::string path = scratch.path("file"), bytes("\0\1two\nthree", 11);
  write_file_atomically(path, bytes);
  CHECK(read_file(path) == bytes);
  write_file_atomically(path, "");
  CHECK(read_file(path) == "");
  CHECK(scratch.files() == 1);
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

TEST_CASE("files: a full disk leaves the old file and nothing else") {
  const Scratch scratch;
  const std::string path = scratch.path("file");
  write_file_atomically(path, "the old content");

  // A limit on the size of files stands for the full disk: write() fails after 4096 bytes.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit small = {4096, old_limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string what;
  try {
    write_file_atomically(path, std::string(100'000, 'x'));
  } catch (const Error& error) {
    what = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);

  CHECK(what.find("File too large") != std::string::npos);
  CHECK(read_file(path) == "the old content");
  CHECK(scratch.files() == 1);
}
