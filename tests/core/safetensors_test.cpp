// safetensors files: round trips, the format by hand, and damaged files.
#include "core/safetensors.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/files.h"
#include "tests/core/mutate.h"
#include "tests/core/scratch.h"

namespace renar::safetensors_test {
namespace {

SafetensorsFile example() {
  SafetensorsFile file;
  file.metadata = {{"step", "500"}, {"algorithm", "d\"fs\n"}};
  file.tensors = {{"w", StoredArray::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                  {"a/b", StoredArray::of<double>({}, {0.5})},
                  {"empty", StoredArray::of<float>({0, 4}, {})},
                  {"state", StoredArray::of<std::uint32_t>({3}, {0, 1, 4294967295u})},
                  {"count", StoredArray::of<std::int64_t>({1}, {-1})},
                  {"mask", StoredArray::of<std::uint8_t>({1, 2}, {1, 0})}};
  return file;
}

std::string with_header(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  return bytes + header + data;
}

constexpr std::string_view kChecksumKey = "renar_crc32";

/// The file as one that does not know our checksum: its key has another name.
std::string without_checksum(std::string bytes) {
  return bytes.replace(bytes.find(kChecksumKey), kChecksumKey.size(), "another_key");
}

SafetensorsFile read(const std::string& header, const std::string& data) {
  return decode_safetensors(with_header(header, data), "x");
}

TEST_CASE("safetensors: what is written is read again, in its order") {
  const Scratch scratch;
  const std::string path = scratch.path("x.safetensors");
  write_safetensors(path, example());
  const SafetensorsFile file = read_safetensors(path);
  const SafetensorsFile expected = example();
  CHECK(file.metadata == expected.metadata);
  REQUIRE(file.tensors.size() == expected.tensors.size());
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    const auto& [name, array] = expected.tensors[i];
    CAPTURE(name);
    CHECK(file.tensors[i].name == name);
    CHECK(file.tensors[i].array.type == array.type);
    CHECK(file.tensors[i].array.shape == array.shape);
    CHECK(file.tensors[i].array.bytes == array.bytes);
  }
  CHECK(file.tensor("w").floats()[5] == 6);
  CHECK_THROWS_AS(file.tensor("absent"), Error);
  CHECK(decode_safetensors(encode_safetensors({}), "x").tensors.empty());
}

TEST_CASE("safetensors: the format by hand") {
  const SafetensorsFile file =
      read(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},"__metadata__":{"k":"v"},)"
           R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  )",
           std::string("\0\0\x80\x3f\7", 5));
  CHECK(file.metadata.at("k") == "v");
  CHECK(file.tensors[0].name == "a");
  CHECK(file.tensor("a").floats() == std::vector<float>{1});
  CHECK(file.tensor("b").exactly<std::uint8_t>() == std::vector<std::uint8_t>{7});
}

TEST_CASE("safetensors: whatever does not fit is refused") {
  const std::string four(4, '\0');
  for (const char* header : {
           "",
           "[]",
           "{",
           "3",
           R"({"a":3})",
           R"({"a":{}})",
           R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})",
           R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})",
           R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
           R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
           R"({"a":{"dtype":"F32","shape":[4611686018427387905,4],"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
           R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
           R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           R"({"__metadata__":{"k":1},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
           R"({"__metadata__":[],"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       }) {
    CAPTURE(header);
    CHECK_THROWS_AS(read(header, four), Error);
  }
  CHECK_THROWS_AS(read(R"({"a":)" + std::string(100'000, '['), four), Error);
  std::string wide = "{\"__metadata__\":{\"k\":\"\"";
  for (int i = 0; i < 100'000; ++i) wide += ",\"" + std::to_string(i) + "\":\"\"";
  CHECK_THROWS_WITH_AS(read(wide + "}}", ""), doctest::Contains("more than 20000 keys"), Error);
  CHECK_THROWS_AS(decode_safetensors("short", "x"), Error);
  CHECK_THROWS_AS(decode_safetensors(std::string(8, '\xff') + "{}", "x"), Error);

  SafetensorsFile twice = example();
  twice.tensors.push_back(twice.tensors[0]);
  CHECK_THROWS_AS(encode_safetensors(twice), Error);
  SafetensorsFile reserved;
  reserved.tensors = {{"__metadata__", StoredArray::of<float>({1}, {1})}};
  CHECK_THROWS_AS(encode_safetensors(reserved), Error);
  SafetensorsFile not_text;
  not_text.metadata["k"] = "\xff";
  CHECK_THROWS_AS(encode_safetensors(not_text), Error);
}

TEST_CASE("safetensors: no bit of a file can change unnoticed") {
  const std::string whole = encode_safetensors(example());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    try {
      const SafetensorsFile file = decode_safetensors(bytes, "x");
      // The checksum is no longer called so, and nothing else is new.
      CAPTURE(bit);
      CHECK(file.metadata.size() == example().metadata.size() + 1);
      CHECK(bytes.find(kChecksumKey) == bytes.npos);
    } catch (const Error&) {
      continue;
    }
  }
}

TEST_CASE("safetensors: a file without a checksum is read, and none can be made up") {
  const std::string whole = encode_safetensors(example());
  CHECK(decode_safetensors(without_checksum(whole), "x").tensor("w").floats()[5] == 6);
  const std::string header = R"({"__metadata__":{"renar_crc32":"0"}})";
  CHECK_THROWS_WITH_AS(read(header, ""), doctest::Contains("damaged"), Error);
}

TEST_CASE("safetensors: 10,000 damaged files are read or refused") {
  const std::string whole = encode_safetensors(example());
  const int accepted =
      survive_mutations({whole, without_checksum(whole)},
                        [](const std::string& bytes) { decode_safetensors(bytes, "x"); });
  CHECK(accepted > 0);  // without a checksum damage to the numbers themselves cannot be seen
  CHECK(accepted < 5'000);
}

}  // namespace
}  // namespace renar::safetensors_test
