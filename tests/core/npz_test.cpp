// .npz archives: round trips, numpy's own files, and damaged ones.
#include "core/npz.h"

#include <doctest/doctest.h>
#include <zip.h>

#include <limits>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/files.h"
#include "core/npy.h"
#include "tests/core/mutate.h"
#include "tests/core/scratch.h"
#include "tests/source_dir.h"

namespace renar::npz_test {
namespace {

Npz example() {
  Npz arrays;
  arrays["input/pos"] = StoredArray::of<double>({2, 3}, {0, 0.5, -1, 1e300, 5e-324, -0.0});
  arrays["f"] = StoredArray::of<float>({4}, {1, 2, 3, 0.1f});
  arrays["i64"] = StoredArray::of<std::int64_t>({1, 1, 2}, {-1, 1ll << 40});
  arrays["i32"] = StoredArray::of<std::int32_t>({2}, {-1, 7});
  arrays["u8"] = StoredArray::of<std::uint8_t>({3}, {0, 1, 255});
  arrays["number"] = StoredArray::of<double>({}, {3});
  arrays["empty"] = StoredArray::of<double>({0, 5}, {});
  return arrays;
}

/// The bytes of a .npy array with this header, written by hand.
std::string npy(const std::string& header, const std::string& elements) {
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + elements;
}

std::string zip_of(const std::string& path, const std::string& entry, const std::string& bytes) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  zip_file_add(archive, entry.c_str(), zip_source_buffer(archive, bytes.data(), bytes.size(), 0),
               0);
  zip_close(archive);
  return read_file(path);
}

TEST_CASE("npz: what is written is read again, and the same bytes each time") {
  const Scratch scratch;
  const std::string path = scratch.path("x.npz");
  write_npz(path, example());
  const Npz read = read_npz(path);
  CHECK(read.size() == example().size());
  const Npz expected = example();
  for (const auto& [name, array] : expected) {
    CAPTURE(name);
    CHECK(array_of(read, name).type == array.type);
    CHECK(array_of(read, name).shape == array.shape);
    CHECK(array_of(read, name).bytes == array.bytes);
  }
  const std::string first = read_file(path);
  write_npz(path, example());
  CHECK(read_file(path) == first);
  CHECK_THROWS_AS(write_npz(path, {}), Error);
  CHECK(read_file(path) == first);
}

TEST_CASE("npz: elements are converted or asked for exactly") {
  const Npz arrays = example();
  CHECK(array_of(arrays, "i64").doubles() == std::vector<double>{-1, 1099511627776.0});
  CHECK(array_of(arrays, "u8").floats() == std::vector<float>{0, 1, 255});
  CHECK(array_of(arrays, "i32").exactly<std::int32_t>() == std::vector<std::int32_t>{-1, 7});
  CHECK_THROWS_AS(array_of(arrays, "i32").exactly<double>(), Error);
  CHECK_THROWS_AS(array_of(arrays, "absent"), Error);
  CHECK_THROWS_AS(StoredArray::of<double>({2}, {1}), Error);
}

TEST_CASE("npz: numpy's headers, and the ones that are refused") {
  const std::string one(8, '\0');
  const auto read = [](const std::string& bytes) { return decode_npy(bytes, "x"); };
  CHECK(read(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }   \n", one)).shape ==
        std::vector<std::size_t>{1});
  CHECK(read(npy("{'shape':(),'descr':'<i8','fortran_order':False}", one)).type ==
        StoredType::kInt64);
  CHECK(read(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2, 4)}", one)).shape ==
        std::vector<std::size_t>{2, 4});
  for (const char* header : {
           "",
           "{}",
           "{'descr': '<f8', 'fortran_order': False}",
           "{'descr': '<f8', 'fortran_order': True, 'shape': (1,)}",
           "{'descr': '>f8', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (1 1)}",
           "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387905, 4)}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
       }) {
    CAPTURE(header);
    CHECK_THROWS_AS(read(npy(header, one)), Error);
  }
}

TEST_CASE("npz: archives that lie about their size are refused") {
  const Scratch scratch;
  const std::string path = scratch.path("x.npz");
  CHECK_THROWS_AS(read_npz(scratch.path("absent.npz")), Error);
  CHECK_THROWS_AS(decode_npz("", "x"), Error);
  CHECK_THROWS_AS(decode_npz("not a zip archive", "x"), Error);
  CHECK_THROWS_AS(decode_npz(zip_of(path, "x.txt", "text"), "x"), Error);

  const std::string zeros =
      encode_npy(StoredArray::of({1'000'000}, std::vector<double>(1'000'000)));
  std::string bomb = zip_of(path, "x.npy", zeros);
  CHECK(decode_npz(bomb, "x").size() == 1);
  CHECK_THROWS_AS(decode_npz(bomb, "x", 1'000'000), Error);

  const std::size_t directory = bomb.rfind("PK\1\2");
  REQUIRE(directory != std::string::npos);
  bomb.replace(directory + 24, 4, "\xff\xff\xff\x7f");  // the size unpacked: 2 GiB
  CHECK_THROWS_WITH_AS(                                 // before anything is allocated
      decode_npz(bomb, "x"),
      "[npz] x, x.npy unpacks to more than 4294967296 bytes or 1032 times its size", Error);
}

TEST_CASE("npz: 10,000 damaged archives are read or refused") {
  const Scratch scratch;
  const std::string path = scratch.path("x.npz");
  write_npz(path, example());
  const std::string golden = read_file(test::source_dir() + "/tests/golden/trajectories/bfs.npz");
  const std::string plain = encode_npy(example().at("input/pos"));
  const int archives = survive_mutations({read_file(path), golden},
                                         [](const std::string& bytes) { decode_npz(bytes, "x"); });
  const int arrays =
      survive_mutations({plain}, [](const std::string& bytes) { decode_npy(bytes, "x"); });
  CHECK(archives > 0);  // some damage goes unseen, in names and dates for example
  CHECK(archives < 5'000);
  CHECK(arrays > 0);
}

}  // namespace
}  // namespace renar::npz_test
